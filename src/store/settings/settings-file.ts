import { usage } from '../../core/failure.ts';
import type { SettingEntry } from './yaml.ts';

/** Above all settings of the specification, below what takes long to parse (docs/apis.md, Limits on input). */
const mostChars = 50_000;

/** YAML, JSON, or NAME=VALUE lines. @throws Failure usage with file and line, not the value: it may be a password */
export async function readSettingsFile(file: string, text: string): Promise<readonly SettingEntry[]> {
  const label = file === '-' ? 'standard input' : file;
  if (text.length > mostChars)
    throw usage(`${label}: ${text.length} characters are no settings file; the limit is ${mostChars}`);
  const format = formatOf(file, text);
  if (format === 'lines') return linesOf(label, text);
  const { yamlEntries } = await import('./yaml.ts');
  return yamlEntries(label, format, text);
}

function formatOf(file: string, text: string): 'lines' | 'YAML' | 'JSON' {
  const extension = /\.(ya?ml|json)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension !== undefined) return extension === 'json' ? 'JSON' : 'YAML';
  const first = text.split('\n').find((line) => !/^\s*(#|$)/.test(line)) ?? '';
  if (/^\s*[[{]/.test(first)) return 'JSON';
  return /^(---|%YAML|[^=]*?:(\s|$))/.test(first) ? 'YAML' : 'lines';
}

function linesOf(label: string, text: string): SettingEntry[] {
  return text.split(/\r\n|\n|\r/).flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return [];
    const at = line.indexOf('=');
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    return [{ place: `${label}:${index + 1}`, name, text: () => (at < 0 ? undefined : line.slice(at + 1)) }];
  });
}
