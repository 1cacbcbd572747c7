import sanitizeHtml from 'sanitize-html';
import { inertName, replaceUploads, uploadAt, type UploadPath } from '../../schema/upload.ts';
import { emojiOf } from './html-text.ts';
import { droppedTags, sourceAttributes } from './message-parts.ts';

export interface LinkTargets {
  readonly site: string;
  /** Makes a relative link absolute. */
  readonly resolve: (link: string) => string;
  /** The place inside the page, such as `#m12`; undefined where the page does not hold the target. */
  readonly inside: (link: string) => string | undefined;
  /** Where an attached file is kept, seen from the document; undefined where it is not. */
  readonly fileAt: (path: UploadPath) => string | undefined;
}

/** Sanitizes a message's HTML by allow-lists. Make one for many messages: the sanitizer prepares its options. */
export function sanitizer(targets: LinkTargets): (html: string) => string {
  const options = optionsFor(targets);
  // In a spoiler without a title, the style sheet gives one to an empty summary: without the line end it is empty.
  return (html) =>
    sanitizeHtml(withLinks(html, targets), options).replace(/<summary>\s+<\/summary>/g, '<summary></summary>');
}

/** Links each file that the text names: the server leaves Markdown of videos and of other files as typed. */
function withLinks(html: string, { site }: LinkTargets): string {
  if (!html.includes('user_uploads/')) return html;
  let isLink = false;
  return html.replace(/<(\/?)(\w+)[^<>]*>|[^<>]+/g, (piece, end?: string, tag?: string) => {
    if (tag === 'a') isLink = end === '';
    const isText = tag === undefined && !isLink;
    return isText ? replaceUploads(piece, site, (_path, address) => `<a href="${address}">${address}</a>`) : piece;
  });
}

const tags = (
  'p br hr div span blockquote pre code h1 h2 h3 h4 h5 h6 ul ol li table thead tbody tr th td strong em del b i s sub sup u a time ' +
  'details summary img'
).split(' ');

/** Tags of the server's MathML: presentation alone, and the TeX source that browsers do not show. */
const mathTags = (
  'math semantics annotation mrow mi mn mo ms mtext mspace mstyle mpadded mphantom mfrac msqrt mroot msub msup msubsup munder mover munderover ' +
  'mmultiscripts mprescripts mtable mtr mtd menclose'
).split(' ');

/** Classes that the style sheet of the page knows. */
const classes = {
  span: ['user-mention', 'user-group-mention', 'topic-mention', 'silent', 'emoji', 'highlight', 'tex-error'],
  div: ['codehilite', 'spoiler-content', 'preview'],
  details: ['spoiler'],
  a: ['upload'],
};

/** One of `droppedTags`: an element that is renamed to it disappears. */
const dropped = 'template';

/** Deeper nesting, which no message of a server has, would exhaust the sanitizer's own stack. */
const nestingLimit = 100;

function optionsFor(targets: LinkTargets): sanitizeHtml.IOptions {
  // The target of the link that is open: the preview of a picture is inside the link to it.
  let linked = '';
  const embedding: sanitizeHtml.Transformer = (tag, attribs) => embed(tag, attribs, linked, targets);
  return {
    allowedTags: [...tags, ...mathTags],
    allowedAttributes: {
      a: ['href', 'rel', 'title', 'download'],
      time: ['datetime'],
      ol: ['start'],
      span: ['title'],
      img: ['src', 'alt', 'loading'],
      math: ['display'],
      annotation: ['encoding'],
    },
    // No attribute holds a style; without this the sanitizer loads a parser of CSS.
    parseStyleAttributes: false,
    allowedClasses: classes,
    allowedSchemes: ['http', 'https', 'mailto'],
    allowedSchemesAppliedToAttributes: ['href'],
    allowProtocolRelative: false,
    nestingLimit,
    onCloseTag: (name) => {
      if (name === 'a') linked = '';
    },
    nonTextTags: droppedTags,
    transformTags: {
      a: (_tag, attribs) => {
        linked = attribs['href'] ?? '';
        return { tagName: 'a', attribs: linkAttributes(attribs, targets) };
      },
      img: embedding,
      audio: embedding,
      video: embedding,
      span: (tagName, attribs) =>
        has(attribs, 'katex-html') ? { tagName: dropped, attribs: {} } : inline(tagName, attribs),
      div: (_tag, attribs) => block(attribs),
    },
  };
}

function linkAttributes({ href = '', title }: sanitizeHtml.Attributes, targets: LinkTargets): sanitizeHtml.Attributes {
  const upload = uploadAt(href, targets.site) ?? '';
  const file = upload === '' ? undefined : targets.fileAt(upload);
  const inside = targets.inside(href) ?? file;
  return {
    href: inside ?? targets.resolve(href),
    ...(title === undefined ? {} : { title }),
    ...(inside === undefined ? { rel: 'noopener noreferrer' } : {}),
    ...(file !== undefined && inertName(upload) !== upload ? { download: inertName(nameOf(upload)) } : {}),
    ...(inside === undefined && upload !== '' ? { class: 'upload' } : {}),
  };
}

function nameOf(upload: UploadPath): string {
  return upload.replace(/^.*\//, '');
}

/** Suffixes of the pictures that every browser draws. */
const drawn = /\.(?:png|jpe?g|gif|webp|avif|bmp)$/i;

/** Shows a kept picture, links another kept file by its name, and names in text what is in a link or elsewhere. */
function embed(tag: string, attribs: sanitizeHtml.Attributes, linked: string, targets: LinkTargets): sanitizeHtml.Tag {
  const { alt = '', title = alt } = attribs;
  if (has(attribs, 'emoji')) return { tagName: 'span', attribs: { class: 'emoji' }, text: alt };
  const original = sourceAttributes.map((name) => attribs[name]).find(Boolean) ?? '';
  const own = uploadAt(original, targets.site);
  const upload = own ?? uploadAt(linked, targets.site) ?? '';
  const name = title || nameOf(upload);
  const kept = tag === 'img' && drawn.test(upload) ? targets.fileAt(upload) : undefined;
  if (kept !== undefined) return { tagName: 'img', attribs: { src: kept, alt: name, loading: 'lazy' } };
  if (own !== undefined && linked === '')
    return { tagName: 'a', attribs: linkAttributes({ href: original }, targets), text: name };
  const kind = tag === 'img' ? 'image' : tag;
  return { tagName: 'span', attribs: { title: targets.resolve(original) }, text: `[${kind}${name && `: ${name}`}]` };
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

function has({ class: classNames = '' }: sanitizeHtml.Attributes, name: string): boolean {
  return classNames.split(/\s+/).includes(name);
}
