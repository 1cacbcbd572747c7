import Conf from 'conf';

/** Writes `name`.json, synced and renamed. Under SNAP conf writes in place, so the caller checks the result. */
export function writeConf(folder: string, name: string, content: Readonly<Record<string, unknown>>): void {
  const conf = new Conf<Record<string, unknown>>({
    projectName: 'chatelaine',
    projectSuffix: '',
    cwd: folder,
    configName: name,
    configFileMode: 0o600,
    clearInvalidConfig: false,
    accessPropertiesByDotNotation: false,
    serialize: confText,
  });
  conf.store = { ...content };
}

export function confText(content: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(content, undefined, 2)}\n`;
}
