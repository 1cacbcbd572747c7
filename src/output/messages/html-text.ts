import { compile, type DomNode, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { plainLines } from '../plain.ts';
import { isObject } from '../../core/json.ts';
import { characterOf, droppedTags, sourceAttributes } from './message-parts.ts';

interface TextStyle {
  /** The text of a moment (RFC 3339), in the reader's own time. */
  readonly time: (moment: string) => string;
  /** Makes a relative link absolute. */
  readonly resolve: (link: string) => string;
}

/** No message is nested deeper than this; a hostile one could exhaust the stack. */
const maxDepth = 40;

/** Reads a message's HTML as harmless lines of text. Make one for many messages: the library compiles its options. */
export function htmlReader(style: TextStyle): (html: string) => string {
  const limits = { maxDepth, maxInputLength: Infinity };
  const convert = compile({ wordwrap: false, limits, formatters: formatters(style), selectors });
  // The library looks tags up in a plain object, which has a property of that name.
  return (html) => plainLines(convert(html.replace(/<(\/?)constructor\b/gi, '<$1span')));
}

const block = { leadingLineBreaks: 1, trailingLineBreaks: 1 };
const list = { leadingLineBreaks: 1, trailingLineBreaks: 2 };

const selectors: HtmlToTextOptions['selectors'] = [
  { selector: 'ul', options: { ...list, itemPrefix: '• ' } },
  { selector: 'ol', format: 'numbered', options: list },
  { selector: 'blockquote', options: { ...block, trimEmptyLines: true } },
  { selector: 'div.spoiler-content', format: 'blockquote', options: { ...block, trimEmptyLines: true } },
  { selector: 'hr', options: { ...block, length: 3 } },
  { selector: 'table', format: 'block', options: block },
  { selector: 'tr', format: 'row' },
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => {
    return { selector, options: { uppercase: false, leadingLineBreaks: 2, trailingLineBreaks: 1 } };
  }),
  { selector: 'del', format: 'inlineSurround', options: { prefix: '~~', suffix: '~~' } },
  { selector: 'code', format: 'inlineSurround', options: { prefix: '`', suffix: '`' } },
  { selector: 'pre', format: 'code' },
  { selector: 'a', format: 'link' },
  ...['img', 'audio', 'video', 'div.message_inline_image'].map((selector) => ({ selector, format: 'media' })),
  { selector: 'span.emoji', format: 'emoji' },
  { selector: 'time', format: 'moment' },
  { selector: 'span.katex', format: 'formula' },
  { selector: 'div.spoiler-header', format: 'block', options: block },
  ...['div.message_embed', ...droppedTags].map((selector) => ({ selector, format: 'skip' })),
];

function formatters(style: TextStyle): Record<string, FormatCallback> {
  return {
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
      if (isWorthShowing(target, element)) builder.addLiteral(` <${target}>`);
    },
    /** A picture or a recording, or the preview of one, which is in a link to it. */
    media(element, _walk, builder) {
      const link = [...nodesIn(element)].find(({ name }) => name === 'a');
      const kind = element.name === 'div' || element.name === 'img' ? 'image' : element.name;
      const named = sourceAttributes.map((name) => attribute(element, name)).find(Boolean) ?? '';
      const source = style.resolve(link ? attribute(link, 'href') : named);
      const shown = source === '' ? `[${kind}]` : `[${kind}: ${source}]`;
      if (element.name === 'div') builder.openBlock(block);
      // The blanks keep words on either side apart; at the beginning of a line the library drops them.
      builder.addInline(hasClass(element, 'emoji') ? attribute(element, 'alt') : ` ${shown} `);
      if (element.name === 'div') builder.closeBlock(block);
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
  };
}

/** False where the text already names the target: a channel, topic or message, or an address that is the text. */
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

function hasClass(element: DomNode, name: string): boolean {
  return attribute(element, 'class').split(/\s+/).includes(name);
}
