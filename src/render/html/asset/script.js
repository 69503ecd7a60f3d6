(() => {
  'use strict';
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const tip = document.querySelector('.tip');
  const words = document.body.dataset;

  // What a mark means, beside it.
  const said = target => target instanceof Element && target.closest('svg [aria-label]');
  const show = mark => {
    tip.textContent = mark.getAttribute('aria-label');
    tip.hidden = false;
    const box = mark.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(4, box.left + box.width / 2 - own.width / 2), innerWidth - own.width - 4);
    tip.style.left = left + 'px';
    tip.style.top = (box.top - own.height - 8 > 0 ? box.top - own.height - 8 : box.bottom + 8) + 'px';
  };
  const over = event => {
    const mark = said(event.target);
    if (mark) show(mark); else tip.hidden = true;
  };
  document.addEventListener('pointerover', over);
  document.addEventListener('focusin', over);
  document.addEventListener('scroll', () => { tip.hidden = true; }, true);

  // Within a picture the arrow keys go from mark to mark; Tab goes to the next picture.
  for (const plot of all('svg.plot')) {
    const marks = all('a[href]', plot);
    if (!marks.length) continue;
    marks[0].setAttribute('tabindex', '0');
    plot.addEventListener('keydown', event => {
      const at = marks.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: marks.length - 1 }[event.key];
      if (at < 0 || to === undefined || !marks[to]) return;
      event.preventDefault();
      marks[at].setAttribute('tabindex', '-1');
      marks[to].setAttribute('tabindex', '0');
      marks[to].focus();
    });
  }

  // A jump to a line: the section that holds it opens, and the line has the focus.
  const jump = () => {
    const line = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!line || !line.classList.contains('row')) return;
    line.setAttribute('tabindex', '-1');
    line.focus({ preventScroll: true });
    line.scrollIntoView({ block: 'center' });
  };
  addEventListener('hashchange', jump);
  jump();

  for (const button of all('button.copy')) {
    button.hidden = false;
    const word = button.textContent;
    button.addEventListener('click', async () => {
      const code = button.parentElement.querySelector('code');
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        const range = document.createRange();
        range.selectNodeContents(code);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        document.execCommand('copy');
      }
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = word; }, 1500);
    });
  }

  // Zoom: the picture gets wider than its frame, which scrolls; text keeps its size.
  for (const frame of all('[data-zoom]')) {
    const plot = frame.querySelector('svg');
    const bar = document.createElement('div');
    bar.className = 'zoom';
    let factor = 1;
    const button = (sign, label, by) => {
      const made = document.createElement('button');
      made.type = 'button';
      made.textContent = sign;
      made.setAttribute('aria-label', label);
      made.addEventListener('click', () => {
        const middle = (frame.scrollLeft + frame.clientWidth / 2) / plot.clientWidth;
        factor = Math.min(32, Math.max(1, factor * by));
        plot.style.width = factor * 100 + '%';
        plot.classList.toggle('wide', factor >= 4);
        frame.scrollLeft = middle * plot.clientWidth - frame.clientWidth / 2;
      });
      bar.append(made);
    };
    button('−', words.zoomOut, 0.5);
    button('+', words.zoomIn, 2);
    frame.closest('figure').insertBefore(bar, frame);
  }

  for (const label of all('label.filter')) {
    const rows = all('tbody tr', label.parentElement);
    if (rows.length < 8) continue;
    label.hidden = false;
    label.querySelector('input').addEventListener('input', event => {
      const wanted = event.target.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }

  for (const table of all('table.sortable')) {
    all('thead th', table).forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.textContent = '';
      head.append(button);
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending';
        all('th', table).forEach(other => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
        const rows = all('tbody tr', table);
        rows.sort((a, b) => value(a).localeCompare(value(b), undefined, { numeric: true }) * (down ? -1 : 1));
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
