// report.html: its points and tables come to life (charts.js).
(() => {
  'use strict';
  const panels = JSON.parse(document.getElementById('points').textContent);
  ringsidePage.draw(document.getElementById('charts'), panels);
  ringsidePage.tables(document.querySelectorAll('section.table'));
  document.documentElement.dataset.ready = String(panels.length);
})();
