/** The id of a user by full name, for mentions. */
type FindUser = (fullName: string) => number | undefined;

/** The small part of Markdown that the sample messages use, as the chat service renders it. */
export function render(markdown: string, findUser: FindUser = () => undefined): string {
  return markdown
    .split(/\n{2,}/)
    .map((block) => renderBlock(block, findUser))
    .join('\n');
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function renderBlock(block: string, findUser: FindUser): string {
  const fence = /^```[^\n]*\n([\s\S]*?)\n```$/.exec(block);
  if (fence)
    return `<div class="codehilite"><pre><span></span><code>${escapeHtml(fence[1] ?? '')}\n</code></pre></div>`;
  const lines = block.split('\n');
  const rendered = (skip: number) => lines.map((line) => renderLine(line.slice(skip), findUser));
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
  /`(?<code>[^`]+)`|\[(?<label>[^[\]]*)\]\((?<target>[^\s()]+)\)|(?<url>https?:\/\/[^\s<>]*[^\s<>.,;:!?)])|@\*\*(?<name>[^*]+)\*\*|\*\*(?<bold>[^*]+)\*\*/g;

function renderLine(line: string, findUser: FindUser): string {
  let end = 0;
  let result = '';
  for (const match of line.matchAll(span)) {
    result += escapeHtml(line.slice(end, match.index)) + renderSpan(match.groups ?? {}, findUser);
    end = match.index + match[0].length;
  }
  return result + escapeHtml(line.slice(end));
}

function renderSpan(
  { code, label, target, url, name, bold }: Readonly<Record<string, string>>,
  findUser: FindUser,
): string {
  if (code !== undefined) return `<code>${escapeHtml(code)}</code>`;
  if (target !== undefined) return link(target, label ?? target);
  if (url !== undefined) return link(url, url);
  if (name === 'all') return '<span class="user-mention channel-wildcard-mention" data-user-id="*">@all</span>';
  if (name === 'topic') return '<span class="topic-mention">@topic</span>';
  if (name !== undefined)
    return `<span class="user-mention" data-user-id="${findUser(name) ?? ''}">@${escapeHtml(name)}</span>`;
  return `<strong>${escapeHtml(bold ?? '')}</strong>`;
}

function link(target: string, label: string): string {
  const image = /\.(png|jpg)$/.test(target) ? `<img alt="" src="${escapeHtml(target)}">` : '';
  return `<a href="${escapeHtml(target)}">${escapeHtml(label)}</a>${image}`;
}
