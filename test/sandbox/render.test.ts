import { expect, test } from 'vitest';
import { render } from '../../src/sandbox/chat/render.ts';

const site = '/user_uploads/2/ab/';
const link = (target: string, label: string): string => `<a href="${target}">${label}</a>`;
const picture =
  `<img alt="a" class="inline-image" data-original-content-type="image/png" data-original-dimensions="1920x1080" ` +
  `data-original-src="${site}a.png" src="/user_uploads/thumbnail/2/ab/a.png/840x560.webp">`;

test.each([
  [`![a](${site}a.mp3)`, 404, `!${link(`${site}a.mp3`, 'a')}`],
  [`![a](${site}a.mp3)`, 405, `<audio controls preload="metadata" src="${site}a.mp3" title="a"></audio>`],
  [`![a](${site}a.pdf)`, 441, `!${link(`${site}a.pdf`, 'a')}`],
  [`![a](${site}a.pdf)`, 442, `![a](${site}a.pdf)`],
  [`![a](${site}a.png)`, 442, picture],
])('%s at level %i is rendered as a server does', (markdown, level, html) => {
  expect(render(markdown, { level })).toBe(`<p>${html}</p>`);
});
