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
      let page;
      try {
        run = await (await fetch('state')).json();
        const grown = run.size !== known && (run.ended || !busy());
        if (grown) page = await (await fetch('.')).text();
      } catch {
        over('The run is over; its results are where the program said.');
        return;
      }
      element('stage').textContent = run.stage;
      element('done').value = run.fraction;
      element('doing').textContent = run.doing;
      if (page) {
        report().replaceWith(new DOMParser().parseFromString(page, 'text/html').getElementById('report'));
        known = run.size;
        begin();
      }
      if (run.ended) {
        over('The run has ended.');
        fetch('end', { method: 'POST' });
      } else setTimeout(look, 1000);
    }
    addEventListener('pagehide', () => navigator.sendBeacon('end'));
    look();
  }

  begin();
  if (document.getElementById('running')) follow();
})();
