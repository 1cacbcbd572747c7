import { levels } from './levels.ts';

interface RenderParts {
  /** The id of a user by full name, for mentions. */
  readonly findUser?: (fullName: string) => number | undefined;
  readonly level?: number;
}

/** The small part of Markdown that the sample messages use, as the chat service renders it. */
export function render(markdown: string, rendering: RenderParts = {}): string {
  return markdown
    .split(/\n{2,}/)
    .map((block) => renderBlock(block, rendering))
    .join('\n');
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function renderBlock(block: string, rendering: RenderParts): string {
  const fence = /^```[^\n]*\n([\s\S]*?)\n```$/.exec(block);
  if (fence)
    return `<div class="codehilite"><pre><span></span><code>${escapeHtml(fence[1] ?? '')}\n</code></pre></div>`;
  const lines = block.split('\n');
  const rendered = (skip: number) => lines.map((line) => renderLine(line.slice(skip), rendering));
  if (lines.every((line) => line.startsWith('> ')))
    return `<blockquote>\n<p>${rendered(2).join('<br>\n')}</p>\n</blockquote>`;
  if (lines.every((line) => line.startsWith('* '))) {
    const items = rendered(2).map((line) => `<li>${line}</li>`);
    return `<ul>\n${items.join('\n')}\n</ul>`;
  }
  return `<p>${rendered(0).join('<br>\n')}</p>`;
}

/** No alternative scans past the character that begins it, so that a message of any length takes linear time. */
const span =
  /`(?<code>[^`]+)`|!\[(?<name>[^[\]]*)\]\((?<upload>\/user_uploads\/[^\s()]+)\)|\[(?<label>[^[\]]*)\]\((?<target>[^\s()]+)\)|(?<url>https?:\/\/[^\s<>]*[^\s<>.,;:!?)])|@\*\*(?<user>[^*]+)\*\*|\*\*(?<bold>[^*]+)\*\*/g;

function renderLine(line: string, rendering: RenderParts): string {
  let end = 0;
  let result = '';
  for (const match of line.matchAll(span)) {
    result += escapeHtml(line.slice(end, match.index)) + renderSpan(match.groups ?? {}, rendering);
    end = match.index + match[0].length;
  }
  return result + escapeHtml(line.slice(end));
}

function renderSpan(
  { code, name = '', upload, label, target, url, user, bold }: Readonly<Record<string, string>>,
  { findUser, level = levels.newest }: RenderParts,
): string {
  if (code !== undefined) return `<code>${escapeHtml(code)}</code>`;
  if (upload !== undefined) return embed(upload, name, level);
  if (target !== undefined) return link(target, label ?? target);
  if (url !== undefined) return link(url, url);
  if (user === 'all') return '<span class="user-mention channel-wildcard-mention" data-user-id="*">@all</span>';
  if (user === 'topic') return '<span class="topic-mention">@topic</span>';
  if (user !== undefined)
    return `<span class="user-mention" data-user-id="${findUser?.(user) ?? ''}">@${escapeHtml(user)}</span>`;
  return `<strong>${escapeHtml(bold ?? '')}</strong>`;
}

/** A file that is posted as a picture; what is neither audio nor a picture stays as it was typed. */
function embed(target: string, label: string, level: number): string {
  const [upload, name] = [escapeHtml(target), escapeHtml(label)];
  if (level >= levels.audioPlayers && /\.(aac|flac|m4a|mp3|wav|weba)$/.test(target))
    return `<audio controls preload="metadata" src="${upload}" title="${name}"></audio>`;
  if (level < levels.inlinePictures) return `!${link(target, label)}`;
  if (!/\.(png|jpe?g|gif|webp)$/.test(target)) return `![${name}](${upload})`;
  const thumbnail = upload.replace('/user_uploads/', '/user_uploads/thumbnail/');
  const facts = `data-original-content-type="image/png" data-original-dimensions="1920x1080" data-original-src="${upload}"`;
  return `<img alt="${name}" class="inline-image" ${facts} src="${thumbnail}/840x560.webp">`;
}

function link(target: string, label: string): string {
  const image = /\.(png|jpg)$/.test(target) ? `<img alt="" src="${escapeHtml(target)}">` : '';
  return `<a href="${escapeHtml(target)}">${escapeHtml(label)}</a>${image}`;
}
