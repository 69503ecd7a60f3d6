// Logs that no repository needs to keep: one that attacks whoever shows it, and one of a very long night.

const start = [
  'Total VRAM 24576 MB, total RAM 65536 MB',
  'pytorch version: 2.9.0+cu130',
  'ComfyUI version: 0.3.64',
];

/** Every place in which a log brings text of its own: class names, folders, errors, stamps, versions. */
export function hostile() {
  const attack = '<script>globalThis.owned=1</script><img src=x onerror="globalThis.owned=1"><svg onload=globalThis.owned=1>';
  const name = '"><script>owned=1</script>';
  const lines = [
    ...start,
    `Device: cuda:0 ${attack} : cudaMallocAsync`,
    'Import times for custom nodes:',
    `   0.1 seconds (IMPORT FAILED): /opt/ComfyUI/custom_nodes/${name}`,
    `   0.2 seconds: /opt/ComfyUI/custom_nodes/</style><script>owned=1</script>`,
    `   0.2 seconds: /opt/ComfyUI/custom_nodes/javascript:alert(1)`,
    'Starting server',
  ];
  for (let prompt = 0; prompt < 6; prompt++) {
    lines.push('got prompt');
    if (prompt) lines.push(`Potential memory leak detected with model ${name}, doing a full garbage collect, for maximum performance avoid circular references in the model code.`);
    for (let held = 0; held < prompt; held++) {
      lines.push(`WARNING, memory leak with model ${name}. Please make sure it is not being referenced from somewhere.`);
    }
    lines.push(`Requested to load ${name}`, 'loaded completely 9.5367431640625e+25 16.0625 True');
    lines.push(`!!! Exception during processing !!! ${attack}\u202egnp.exe\u2066\u0000\u001b[2J\u001b]8;;http://evil.example\u0007`);
    lines.push('Traceback (most recent call last):', `  File "${attack}", line 1, in <script>`, `ValueError: ${attack}`);
    lines.push(`${'A'.repeat(100_000)}${attack}`);
    lines.push('&lt;script&gt;owned=1&lt;/script&gt; &#60;script&#62;owned=1 ]]><!-- --> </textarea></title><style>*{display:none}</style>');
    lines.push('Prompt executed in 1.00 seconds');
  }
  return lines.join('\n');
}

/** Prompts with stamps, loads and now and then a failure. */
export function manyPrompts(count) {
  const lines = [...start, 'Starting server'];
  let at = Date.UTC(2026, 0, 1);
  const stamp = () => new Date(at).toISOString().replace('Z', '');
  for (let prompt = 1; prompt <= count; prompt++) {
    lines.push(`${stamp()} - got prompt`, `${stamp()} - Requested to load Flux`);
    at += 1000;
    lines.push(`${stamp()} - loaded completely 22000.0 11350.0 True`);
    at += 4000;
    if (prompt % 997 === 0) lines.push(`${stamp()} - !!! Exception during processing !!! boom`, 'Traceback (most recent call last):', 'ValueError: boom');
    lines.push(`${stamp()} - Prompt executed in 5.00 seconds`);
  }
  return `${lines.join('\n')}\n`;
}
