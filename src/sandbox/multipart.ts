import busboy from 'busboy';

/** The text fields of a multipart form, as far as it is well formed; its files are ignored. */
export function readMultipart(contentType: string, body: Buffer): Promise<URLSearchParams> {
  const form = new URLSearchParams();
  const parser = parserOf(contentType);
  if (!parser) return Promise.resolve(form);
  return new Promise((resolve) => {
    const done = () => resolve(form);
    parser.on('field', (name, value) => form.append(name, value));
    parser.on('file', (_name, stream) => void stream.resume());
    parser.on('close', done).on('error', done);
    parser.end(body);
  });
}

/** Undefined where the type names no boundary. */
function parserOf(contentType: string): busboy.Busboy | undefined {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      limits: { fieldSize: Infinity, fields: Infinity, parts: Infinity },
    });
  } catch (cause) {
    if (cause instanceof Error) return undefined;
    throw cause;
  }
}
