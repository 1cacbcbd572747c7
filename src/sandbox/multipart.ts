/** The text fields of a multipart form; files in it are passed over. */
export function readMultipart(contentType: string, body: Buffer): URLSearchParams {
  const form = new URLSearchParams();
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (!mark) return form;
  for (const part of body.toString('utf8').split(`--${mark}`).slice(1)) readPart(form, part);
  return form;
}

function readPart(form: URLSearchParams, part: string): void {
  const match = /^\r\n([\s\S]*?)\r\n\r\n([\s\S]*)\r\n$/.exec(part);
  const name = /;\s*name="([^"]*)"/i.exec(match?.[1] ?? '')?.[1];
  if (match && name !== undefined && !/;\s*filename=/i.test(match[1] ?? '')) form.append(name, match[2] ?? '');
}
