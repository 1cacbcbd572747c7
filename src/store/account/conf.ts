import Conf from 'conf';

/**
 * Writes `name`.json in that folder through conf: a draft beside it with mode 0600, synced, then renamed, through a symbolic link
 * if the user made it one. Under SNAP conf writes in place, so the caller looks at the result.
 */
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

/** The text that a file of that content has. */
export function confText(content: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(content, undefined, 2)}\n`;
}
