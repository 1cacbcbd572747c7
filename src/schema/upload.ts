import type { JsonObject } from '../core/json.ts';
import { percentDecoded } from './url.ts';

/** An attached file by its server's path (`2/ab/x1/plan.pdf`), not percent-encoded (docs/apis.md, Attached files). */
export type UploadPath = string;

/** Files that run nothing where they are opened: pictures, audio, videos, texts, documents and archives. */
const inert =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|heic|tiff?|aac|flac|m4a|mp3|ogg|wav|weba|mov|mp4|webm|pdf|txt|csv|docx?|xlsx?|pptx?|od[tsp]|rtf|zip|tar|t?gz|bz2|xz|7z|rar|zst)$/i;

/** A name under which a browser or a double click runs nothing: `.txt` follows any other suffix. */
export function inertName(name: string): string {
  return inert.test(name) ? name : `${name}.txt`;
}

/** The attached files of the server at `site` that a message names in either form, each once. */
export function uploadsIn({ content, content_type }: JsonObject, site: string): UploadPath[] {
  if (typeof content !== 'string' || !content.includes('user_uploads/')) return [];
  const found = new Set<UploadPath>();
  const texts = content_type === 'text/x-markdown' ? [content] : textsIn(content);
  for (const text of texts) replaceUploads(text, site, (path) => (found.add(path), undefined));
  return [...found];
}

/** The values of the attributes, each between angle brackets, and the text, where the server leaves some Markdown. */
function textsIn(html: string): string[] {
  const values = Array.from(html.matchAll(/=(["'])([^<>]*?)\1/g), ([, , value = '']) => `<${decodeEntities(value)}>`);
  // Spans are joined without a blank, since code may be coloured in pieces.
  return [
    ...values,
    decodeEntities(html.replace(/<(\/?span\b)?[^<>]*>/g, (_tag, isSpan?: string) => (isSpan ? '' : ' '))),
  ];
}

/** The attached file of the server at `site` that a link leads to; undefined for any other, as that of a thumbnail. */
export function uploadAt(link: string, site: string): UploadPath | undefined {
  if (!link.includes('user_uploads/') || !URL.canParse(link, `${site}/`)) return undefined;
  const [base, { origin, pathname }] = [new URL(`${site}/`), new URL(link, `${site}/`)];
  if (origin !== base.origin) return undefined;
  const place = pathname.startsWith(base.pathname) ? pathname.slice(base.pathname.length) : pathname.slice(1);
  const encoded = /^user_uploads\/(?:download\/)?(\d+\/.+)$/.exec(place)?.[1];
  const path = percentDecoded(encoded ?? '');
  const isInside = path.split('/').every((segment) => !['', '.', '..'].includes(segment));
  return isInside ? path : undefined;
}

/** An address of uploads, relative or with a host; between angle brackets it may hold blanks. */
const addresses = new RegExp(
  [
    String.raw`<((?:(?:https?:)?//[^\s<>]{1,300}?/|/?)user_uploads/[^<>\n]+)>`,
    String.raw`(?:(?:https?:)?//[^\s<>()[\]"'\`|]{1,300}?/|(?<![\w/.%-])/?)user_uploads/(?:[^\s<>()[\]"'\`|]|\([^\s<>()[\]]*\))+`,
  ].join('|'),
  'gi',
);

/** Replaces each address of a file in a text that is no HTML, together with the angle brackets around it. */
export function replaceUploads(
  text: string,
  site: string,
  replacement: (path: UploadPath, address: string, before: string) => string | undefined,
): string {
  if (!text.includes('user_uploads/')) return text;
  return text.replace(addresses, (match: string, angled: string | undefined, offset: number) => {
    const before = text.slice(Math.max(0, offset - 2), offset);
    // Punctuation that follows an address in a sentence is no part of it.
    const address = angled ?? (before === '](' ? match : match.replace(/[.,;:!?*~]+$/, ''));
    const path = uploadAt(address, site);
    const replaced =
      path === undefined ? undefined : replacement(path, address, angled === undefined ? before : `${before}<`);
    return replaced === undefined ? match : replaced + (angled === undefined ? match.slice(address.length) : '');
  });
}

/** The names of the characters from U+00A0 to U+00FF, in their order. */
const latin1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest ' +
  'Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig ' +
  'agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const named: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }),
  ...latin1.split(' ').map((name, index) => [name, String.fromCodePoint(0xa0 + index)] as const),
]);

/** A text of HTML with its characters in place of the names and numbers that servers write; the rest stays. */
function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi,
    (match: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return named.get(name) ?? match;
      const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : match;
    },
  );
}
