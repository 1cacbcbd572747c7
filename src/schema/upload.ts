import type { JsonObject } from '../core/json.ts';
import { percentDecoded } from './url.ts';

/** An attached file by its server's path (`2/ab/x1/plan.pdf`), not percent-encoded (docs/apis.md, Attached files). */
export type UploadPath = string;

/** Of files that run nothing where they are opened: pictures, texts, documents and archives. */
const inert =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|heic|tiff?|pdf|txt|csv|docx?|xlsx?|pptx?|od[tsp]|rtf|zip|tar|t?gz|bz2|xz|7z|rar|zst)$/i;

/** A name under which a browser or a double click runs nothing: `.txt` follows any other suffix. */
export function inertName(name: string): string {
  return inert.test(name) ? name : `${name}.txt`;
}

/** Links to attached files of the same server, which writes them without its host. */
const links = {
  html: /\b(href=")\/?user_uploads\/(\d+\/[^"]+)(?=")/g,
  markdown: /(\]\()\/?user_uploads\/(\d+\/[^\s()]+)(?=\))/g,
};

/** The attached files that a message links to, each once. Thumbnails are no files of their own. */
export function uploadsIn({ content, content_type }: JsonObject): UploadPath[] {
  if (typeof content !== 'string' || !content.includes('user_uploads/')) return [];
  const found = content.matchAll(content_type === 'text/x-markdown' ? links.markdown : links.html);
  const paths = Array.from(found, ([, , path = '']) =>
    insideUploads(path.replace(/&(amp|lt|gt|quot|#39|#x27);/g, (_, name: string) => entities[name] ?? '')),
  );
  return [...new Set(paths.filter((path) => path !== undefined))];
}

/** The attached file that the target of a link is; undefined for any other link. */
export function uploadAt(target: string): UploadPath | undefined {
  const path = /^\/?user_uploads\/(\d+\/.+)$/.exec(target)?.[1];
  return path === undefined ? undefined : insideUploads(path);
}

/** A text in Markdown whose links to attached files lead where `placeOf` says, if it says so. */
export function withUploadsAt(markdown: string, placeOf: (path: UploadPath) => string | undefined): string {
  if (!markdown.includes('user_uploads/')) return markdown;
  return markdown.replace(links.markdown, (link: string, before: string, target: string) => {
    const path = insideUploads(target);
    const place = path === undefined ? undefined : placeOf(path);
    return place === undefined ? link : `${before}${place}`;
  });
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

/** Undefined for a path that leads out of the folder of uploads. */
function insideUploads(target: string): UploadPath | undefined {
  const [encoded = ''] = target.split(/[?#]/);
  const path = percentDecoded(encoded);
  const segments = path.split('/');
  const isInside = segments.length > 1 && segments.every((segment) => !['', '.', '..'].includes(segment));
  return isInside ? path : undefined;
}
