// report.html: its points and tables come to life (charts.js), once a second where its run goes on.
(() => {
  'use strict';
  function begin() {
    const panels = JSON.parse(document.getElementById('points').textContent);
    ringsidePage.draw(document.getElementById('charts'), panels);
    ringsidePage.tables(document.querySelectorAll('section.table'));
    document.documentElement.dataset.ready = String(panels.length);
  }

  // A run that goes on: once a second its stage, and the page anew where the journal has grown. What
  // somebody is in the middle of (the keyboard's focus, a zoomed chart) stays until they leave it.
  function follow() {
    const element = (id) => document.getElementById(id);
    const stop = element('stop');
    let known = 0;
    stop.addEventListener('click', () => {
      stop.disabled = true;
      fetch('stop', { method: 'POST' });
    });
    const over = (text) => {
      element('stage').textContent = text;
      element('doing').textContent = '';
      stop.disabled = true;
      ringsidePage.say(text);
    };
    const report = () => element('report');
    const busy = () => report().contains(document.activeElement) || ringsidePage.zoomed();
    async function look() {
      let run;
      try {
        run = await (await fetch('state')).json();
      } catch {
        over('The run is over; its results are where the program said.');
        return;
      }
      element('stage').textContent = run.stage;
      element('done').value = run.fraction;
      element('doing').textContent = run.doing;
      if (run.size !== known && (run.ended || !busy())) {
        const page = new DOMParser().parseFromString(await (await fetch('.')).text(), 'text/html');
        report().replaceWith(page.getElementById('report'));
        known = run.size;
        begin();
      }
      if (run.ended) over('The run has ended.');
      else setTimeout(look, 1000);
    }
    look();
  }

  begin();
  if (document.getElementById('running')) follow();
})();
