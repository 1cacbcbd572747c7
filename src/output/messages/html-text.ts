import { compile, type DomNode, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { plainLines } from '../plain.ts';
import { isObject } from '../../core/json.ts';
import { characterOf, droppedTags, sourceAttributes } from './message-parts.ts';

/** How emphasis is written: each opens with the first text and closes with the second. */
interface TextStyle {
  readonly strong: readonly [string, string];
  readonly faint: readonly [string, string];
  /** The text of a moment (RFC 3339), in the reader's own time. */
  readonly time: (moment: string) => string;
  /** Makes a relative link absolute. */
  readonly resolve: (link: string) => string;
}

/** Reads a message's HTML as harmless lines of text. Make one for many messages: the library compiles its options. */
export function htmlReader(style: TextStyle): (html: string) => string {
  const convert = compile(optionsFor(style));
  const emphasis = [...style.strong, ...style.faint];
  return (html) =>
    plainLines(convert(withoutOwnNames(html.replace(marks, '')))).replace(
      marks,
      (mark) => emphasis[marked.indexOf(mark)] ?? '',
    );
}

/** The library looks tags up in a plain object, which has a property of that name. */
function withoutOwnNames(html: string): string {
  return html.replace(/<(\/?)constructor\b/gi, '<$1span');
}

/** Noncharacters of Unicode mark emphasis until the text is escaped, so that only our own escape sequences remain. */
const [strongOn, strongOff, faintOn, faintOff] = ['\ufdd0', '\ufdd1', '\ufdd2', '\ufdd3'];
const marked = [strongOn, strongOff, faintOn, faintOff];
const marks = /[\ufdd0-\ufdd3]/g;

/** Deeper nesting than any message has would exhaust the stack. */
const maxDepth = 40;

function optionsFor(style: TextStyle): HtmlToTextOptions {
  return { wordwrap: false, limits: { maxDepth, maxInputLength: Infinity }, formatters: formatters(style), selectors };
}

const block = { leadingLineBreaks: 1, trailingLineBreaks: 1 };
const list = { leadingLineBreaks: 1, trailingLineBreaks: 2 };
const strong = { prefix: strongOn, suffix: strongOff };

const selectors: HtmlToTextOptions['selectors'] = [
  { selector: 'p', options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
  { selector: 'ul', options: { ...list, itemPrefix: '• ' } },
  { selector: 'ol', format: 'numbered', options: list },
  { selector: 'blockquote', options: { ...block, trimEmptyLines: true } },
  { selector: 'hr', options: { ...block, length: 3 } },
  { selector: 'table', format: 'block', options: block },
  { selector: 'tr', format: 'row' },
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'title' })),
  ...['strong', 'b', 'span.user-mention', 'span.user-group-mention', 'span.topic-mention'].map((selector) =>
    surround(selector, strong),
  ),
  surround('del', { prefix: '~~', suffix: '~~' }),
  surround('code', { prefix: '`', suffix: '`' }),
  { selector: 'pre', format: 'code' },
  { selector: 'a', format: 'link' },
  { selector: 'img', format: 'picture' },
  ...['audio', 'video'].map((selector) => ({ selector, format: 'recording' })),
  { selector: 'span.emoji', format: 'emoji' },
  { selector: 'time', format: 'moment' },
  { selector: 'span.katex', format: 'formula' },
  { selector: 'div.spoiler-header', format: 'spoilerHeader' },
  { selector: 'div.spoiler-content', format: 'spoilerContent' },
  { selector: 'div.message_inline_image', format: 'preview' },
  ...['div.message_embed', ...droppedTags].map((selector) => ({ selector, format: 'skip' })),
];

function surround(selector: string, options: { prefix: string; suffix: string }) {
  return { selector, format: 'inlineSurround', options };
}

function formatters(style: TextStyle): Record<string, FormatCallback> {
  return {
    title(element, walk, builder) {
      builder.openBlock({ leadingLineBreaks: 2 });
      builder.addLiteral(strongOn);
      walk(element.children, builder);
      builder.addLiteral(strongOff);
      builder.closeBlock({ trailingLineBreaks: 1 });
    },
    row(element, walk, builder) {
      builder.openBlock({ leadingLineBreaks: 1 });
      const cells = childrenOf(element).filter(({ name }) => name === 'td' || name === 'th');
      for (const [index, cell] of cells.entries()) {
        if (index > 0) builder.addInline(' | ');
        walk(cell.children, builder);
      }
      builder.closeBlock({ trailingLineBreaks: 1 });
    },
    numbered(element, walk, builder, options) {
      element.attribs = { start: attribute(element, 'start').match(/^-?\d{1,9}$/)?.[0] ?? '1' };
      builder.options.formatters['orderedList']?.(element, walk, builder, options);
    },
    code(element, _walk, builder) {
      builder.openBlock({ leadingLineBreaks: 1, isPre: true });
      builder.addLiteral(textIn(element).replace(/\n$/, ''));
      builder.closeBlock({ trailingLineBreaks: 1, blockTransform: (text) => text.replace(/^/gm, '    ') });
    },
    link(element, walk, builder) {
      walk(element.children, builder);
      const target = style.resolve(attribute(element, 'href'));
      if (isWorthShowing(target, element)) builder.addLiteral(` ${faintOn}<${target}>${faintOff}`);
    },
    picture(element, _walk, builder) {
      if (hasClass(element, 'emoji')) builder.addInline(attribute(element, 'alt'));
      // Words on either side keep a blank; at the beginning of a line it goes.
      else builder.addInline(` [image: ${style.resolve(sourceOf(element))}] `);
    },
    recording(element, _walk, builder) {
      const source = sourceOf(element);
      builder.addInline(attribute(element, 'title') || `[${element.name}]`);
      if (source !== '') builder.addLiteral(` ${faintOn}<${style.resolve(source)}>${faintOff}`);
    },
    emoji(element, _walk, builder) {
      builder.addInline(emojiOf(attribute(element, 'class')) ?? textIn(element));
    },
    moment(element, _walk, builder) {
      builder.addInline(style.time(attribute(element, 'datetime')) || textIn(element));
    },
    formula(element, _walk, builder) {
      // The TeX source inside rendered mathematics.
      const source = [...nodesIn(element)].find(({ name }) => name === 'annotation');
      builder.addInline(`$${source ? textIn(source).trim() : textIn(element)}$`);
    },
    spoilerHeader(element, _walk, builder) {
      builder.openBlock({ leadingLineBreaks: 1 });
      builder.addInline(`[Spoiler] ${strongOn}${textIn(element).trim()}${strongOff}`);
      builder.closeBlock({ trailingLineBreaks: 1 });
    },
    spoilerContent(element, walk, builder) {
      builder.openBlock({ leadingLineBreaks: 1, reservedLineLength: 2 });
      walk(element.children, builder);
      builder.closeBlock({ trailingLineBreaks: 1, blockTransform: (text) => text.replace(/^/gm, '| ') });
    },
    preview(element, _walk, builder) {
      const [link] = [...nodesIn(element)].filter(({ name }) => name === 'a');
      const kind = /video/.test(attribute(element, 'class')) ? 'video' : 'image';
      builder.openBlock({ leadingLineBreaks: 1 });
      builder.addInline(`[${kind}: ${style.resolve(link ? attribute(link, 'href') : '')}]`);
      builder.closeBlock({ trailingLineBreaks: 1 });
    },
  };
}

/** A link to a channel, topic or message names its target; an address that is its own text needs no second one. */
function isWorthShowing(target: string, element: DomNode): boolean {
  const text = textIn(element);
  const isInside = ['stream', 'stream-topic', 'message-link'].some((name) => hasClass(element, name));
  return target !== '' && !isInside && target !== text && target !== `mailto:${text}`;
}

/** The character whose code points are in a class such as `emoji-1f44d` or `emoji-1f1e9-1f1ea`. */
export function emojiOf(classes: string): string | undefined {
  const code = /(?:^|\s)emoji-([0-9a-f]+(?:-[0-9a-f]+)*)(?:\s|$)/.exec(classes)?.[1];
  return code === undefined ? undefined : characterOf(code);
}

function textIn(element: DomNode): string {
  let text = '';
  for (const { data } of nodesIn(element)) text += data ?? '';
  return text;
}

/** The element and all that is in it, in document order. Not recursive: a hostile message nests without limit. */
function* nodesIn(element: DomNode): Generator<DomNode> {
  const pending = [element];
  for (let node = pending.pop(); node; node = pending.pop()) {
    yield node;
    for (const child of childrenOf(node).toReversed()) pending.push(child);
  }
}

/** A text node has none, whatever its type says. */
function childrenOf({ children }: Partial<DomNode>): readonly DomNode[] {
  return children ?? [];
}

function attribute(element: DomNode, name: string): string {
  const attributes: unknown = element.attribs;
  const value = isObject(attributes) && Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  return typeof value === 'string' ? value : '';
}

function sourceOf(element: DomNode): string {
  return sourceAttributes.map((name) => attribute(element, name)).find((source) => source !== '') ?? '';
}

function hasClass(element: DomNode, name: string): boolean {
  return attribute(element, 'class').split(/\s+/).includes(name);
}
