// Opens a page of `slipway timeline --output html` and uses it as a person with a keyboard would: look.js PAGE. Prints what it saw.
'use strict';
const fs = require('fs');
const {JSDOM, VirtualConsole} = require('jsdom');

const problems = [], asked = [];
const messages = new VirtualConsole();
messages.on('jsdomError', error => problems.push(String(error.detail || error)));
const dom = new JSDOM(fs.readFileSync(process.argv[2], 'utf8'), {
  runScripts: 'dangerously', pretendToBeVisual: true, virtualConsole: messages,
  beforeParse: window => { window.alert = text => asked.push(text); },
});
const {document, KeyboardEvent} = dom.window;
const all = selector => [...document.querySelectorAll(selector)];
const view = () => ['--from', '--span'].map(name => Number(document.getElementById('main').style.getPropertyValue(name)));
const focused = () => document.activeElement.getAttribute('aria-label');
function press(key) {
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
}

const seen = {
  title: document.title,
  facts: all('#facts div').map(each => [...each.children].map(child => child.textContent)),
  path: all('#path .row .name').map(each => each.textContent),
  rows: all('#all .row').length,
  groups: all('#all h3').map(each => each.textContent),
  failed: all('#all .row.failed .name').map(each => each.textContent),
  again: all('#all .row.again .name').map(each => each.textContent),
  open: all('#all .row.open .name').map(each => each.textContent),
  table: all('#table tr').map(row => [...row.children].map(cell => cell.textContent)),
  unlabelled: all('[tabindex], button').filter(each => !each.getAttribute('aria-label') && !each.textContent).length,
  whole: view(),
};
all('#path .row').at(-1)?.focus();
seen.detail = document.getElementById('detail').textContent;
press('Enter');
seen.waited_for = focused();
press('ArrowUp');
seen.above = focused();
press('+');
seen.zoomed = view();
press('ArrowRight');
seen.moved = view();
press('0');
seen.again_whole = view();
all('#ribbon button').at(-1)?.click();
seen.of_ribbon = view();
seen.asked = asked;
seen.problems = problems;
console.log(JSON.stringify(seen));
dom.window.close();
