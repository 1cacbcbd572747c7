import { Parser } from 'htmlparser2';
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
  const values: string[] = [];
  let text = '';
  // Code may be coloured in pieces.
  const separate = (tag: string): void => void (text += tag === 'span' ? '' : ' ');
  const parser = new Parser({
    onopentagname: separate,
    onattribute: (_name, value) => void values.push(`<${value}>`),
    ontext: (piece) => void (text += piece),
    onclosetag: separate,
  });
  parser.end(html);
  return [...values, text];
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
    // Punctuation that follows an address in a sentence is not of it.
    const address = angled ?? (before === '](' ? match : match.replace(/[.,;:!?*~]+$/, ''));
    const path = uploadAt(address, site);
    const replaced =
      path === undefined ? undefined : replacement(path, address, angled === undefined ? before : `${before}<`);
    return replaced === undefined ? match : replaced + (angled === undefined ? match.slice(address.length) : '');
  });
}
