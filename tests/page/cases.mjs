// Logs of the repository that stand for a kind of answer each.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const built = [process.env.COMFY_TRIAGE, join(root, 'target/debug/comfy-triage'), join(root, 'target/release/comfy-triage')];
export const program = built.find(path => path && existsSync(path));

const log = name => `fixtures/case/${name}/console.log`;

export const cases = {
  leak: [log('a02_strong_leak_25')],
  cycle: [log('a03_cycle_25')],
  oom: [log('044')],
  container: [log('132')],
  night: [log('a01_healthy_25')],
  compare: ['compare', log('a30_bisect_s0_all'), log('a30_bisect_s1_none')],
};
