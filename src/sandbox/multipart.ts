import { Busboy } from '@fastify/busboy';

/** The text fields of a multipart form, up to its first error; its files are ignored. */
export function readMultipart(contentType: string, body: Buffer): Promise<URLSearchParams> {
  const form = new URLSearchParams();
  return new Promise((resolve) => {
    const done = () => resolve(form);
    try {
      const limits = { fieldSize: Infinity, fields: Infinity, parts: Infinity };
      const parser = new Busboy({ headers: { 'content-type': contentType }, limits });
      parser.on('field', (name, value) => form.append(name, value));
      parser.on('finish', done).on('error', done);
      parser.end(body);
    } catch (cause) {
      // The type names no boundary.
      if (!(cause instanceof Error)) throw cause;
      done();
    }
  });
}
