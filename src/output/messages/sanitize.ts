import sanitizeHtml from 'sanitize-html';
import { uploadAt, type UploadPath } from '../../schema/upload.ts';
import { emojiOf } from './html-text.ts';

/** Where the links of a message lead. */
export interface LinkTargets {
  /** Makes a relative link absolute. */
  readonly resolve: (link: string) => string;
  /** The place inside the page, such as `#m12`; undefined where the page does not hold the target. */
  readonly inside: (link: string) => string | undefined;
  /** Where an attached file is kept, seen from the document; undefined where it is not. */
  readonly fileAt: (path: UploadPath) => string | undefined;
}

/**
 * Makes of a message's HTML one that runs nothing and loads nothing: an allow-list of tags, classes and link schemes, images as links. Spoilers
 * become `details`, mathematics its TeX source. Made once for many messages: the sanitizer prepares its options.
 */
export function sanitizer(targets: LinkTargets): (html: string) => string {
  const options = optionsFor(targets);
  // A spoiler without a head: the style sheet names a summary that is empty, and a line end is not.
  return (html) => sanitizeHtml(html, options).replace(/<summary>\s+<\/summary>/g, '<summary></summary>');
}

const tags = (
  'p br hr div span blockquote pre code h1 h2 h3 h4 h5 h6 ul ol li table thead tbody tr th td strong em del b i s sub sup u a time ' +
  'details summary'
).split(' ');

/** Classes that the style sheet of the page knows. */
const classes = {
  span: ['user-mention', 'user-group-mention', 'topic-mention', 'silent', 'emoji', 'highlight', 'tex-error'],
  div: ['codehilite', 'spoiler-content', 'preview'],
  details: ['spoiler'],
  code: ['tex'],
  a: ['upload'],
  th: ['center', 'right'],
  td: ['center', 'right'],
};

/** Parts of MathML whose text repeats what its TeX source says. */
const mathParts = ['mrow', 'mi', 'mn', 'mo', 'ms', 'mtext', 'mspace', 'mstyle'];

/** A tag whose text the sanitizer drops: what is renamed to it disappears. */
const dropped = 'template';

/** Nested deeper, the sanitizer's own stack would end; no message of a server is. */
const nestingLimit = 100;

function optionsFor(targets: LinkTargets): sanitizeHtml.IOptions {
  return {
    allowedTags: tags,
    allowedAttributes: { a: ['href', 'rel', 'title'], time: ['datetime'], ol: ['start'], span: ['title'] },
    // No attribute holds a style; without this the sanitizer loads a parser of CSS.
    parseStyleAttributes: false,
    allowedClasses: classes,
    allowedSchemes: ['http', 'https', 'mailto'],
    allowedSchemesAppliedToAttributes: ['href'],
    allowProtocolRelative: false,
    nestingLimit,
    nonTextTags: ['script', 'style', 'textarea', 'option', 'noscript', 'iframe', 'object', 'svg', dropped],
    transformTags: {
      ...Object.fromEntries(mathParts.map((part) => [part, () => ({ tagName: dropped, attribs: {} })])),
      a: (_tag, attribs) => ({ tagName: 'a', attribs: linkAttributes(attribs, targets) }),
      img: (_tag, attribs) => picture(attribs, targets),
      span: (tagName, attribs) =>
        has(attribs, 'katex-html') ? { tagName: dropped, attribs: {} } : inline(tagName, attribs),
      div: (_tag, attribs) => block(attribs),
      annotation: () => ({ tagName: 'code', attribs: { class: 'tex' } }),
      th: aligned,
      td: aligned,
    },
  };
}

function linkAttributes({ href = '', title }: sanitizeHtml.Attributes, targets: LinkTargets): sanitizeHtml.Attributes {
  const upload = uploadAt(href);
  const inside = targets.inside(href) ?? (upload === undefined ? undefined : targets.fileAt(upload));
  const target = inside ?? targets.resolve(href);
  const isUpload = inside === undefined && /\/user_uploads\//.test(target);
  return {
    href: target,
    ...(title === undefined ? {} : { title }),
    ...(inside === undefined ? { rel: 'noopener noreferrer' } : {}),
    ...(isUpload ? { class: 'upload' } : {}),
  };
}

/** An image inside a link is that link's text; alone it becomes a link to where it is. */
function picture(attribs: sanitizeHtml.Attributes, targets: LinkTargets): sanitizeHtml.Tag {
  const { src = '', alt } = attribs;
  if (has(attribs, 'emoji')) return { tagName: 'span', attribs: { class: 'emoji' }, text: alt ?? '' };
  const target = targets.resolve(src);
  return { tagName: 'span', attribs: { title: target }, text: `[image${alt === undefined ? '' : `: ${alt}`}]` };
}

function inline(tagName: string, attribs: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  const character = emojiOf(attribs['class'] ?? '');
  return { tagName, attribs, ...(character === undefined ? {} : { text: character }) };
}

function block(attribs: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  if (has(attribs, 'message_embed')) return { tagName: dropped, attribs: {} };
  if (has(attribs, 'spoiler-block')) return { tagName: 'details', attribs: { class: 'spoiler' } };
  if (has(attribs, 'spoiler-header')) return { tagName: 'summary', attribs: {} };
  if (has(attribs, 'message_inline_image')) return { tagName: 'div', attribs: { class: 'preview' } };
  return { tagName: 'div', attribs };
}

function aligned(tagName: string, { style = '' }: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  const side = /text-align:\s*(center|right)/.exec(style)?.[1];
  return { tagName, attribs: side === undefined ? {} : { class: side } };
}

function has({ class: classNames = '' }: sanitizeHtml.Attributes, name: string): boolean {
  return classNames.split(/\s+/).includes(name);
}
