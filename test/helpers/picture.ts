/**
 * An SVG of what is on a terminal at the end: of control sequences, colours and bold, and lines that were drawn over.
 */

/** As the usual themes of terminals; a picture says what it needs of them. */
const themes = {
  light: { page: '#ffffff', frame: '#d0d7de', text: '#1f2328', dim: '#656d76', prompt: '#0969da' },
  dark: { page: '#0d1117', frame: '#30363d', text: '#e6edf3', dim: '#8b949e', prompt: '#58a6ff' },
} as const;
const colours: Readonly<Record<Theme, Readonly<Record<number, string>>>> = {
  light: { 31: '#cf222e', 32: '#116329', 33: '#7d4e00', 34: '#0969da', 35: '#8250df', 36: '#1b7c83', 90: '#656d76' },
  dark: { 31: '#ff7b72', 32: '#3fb950', 33: '#d29922', 34: '#58a6ff', 35: '#bc8cff', 36: '#39c5cf', 90: '#8b949e' },
};
const [cell, line, margin, size] = [8.43, 20, 20, 14];

export type Theme = keyof typeof themes;

interface Style {
  readonly colour?: number;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
}

/** `text`: what a terminal received; lines that begin with `$ ` are what was typed. */
export function pictureOf(text: string, theme: Theme): string {
  const { page, frame, text: ink, dim, prompt } = themes[theme];
  const lines = text.trimEnd().split('\n').map(drawnLast).map(runsOf);
  const columns = Math.max(...lines.map((runs) => runs.reduce((sum, { text: run }) => sum + run.length, 0)));
  const [width, height] = [Math.ceil(columns * cell + 2 * margin), lines.length * line + 2 * margin];
  const rows = lines.map((runs, index) => {
    const isTyped = runs[0]?.text.startsWith('$ ') === true;
    const spans = runs.map(({ text: run, style: { colour, isBold, isDim } }) => {
      const fill = isTyped ? prompt : colour === undefined ? (isDim ? dim : undefined) : colours[theme][colour];
      const attributes = [
        ...(fill === undefined ? [] : [`fill="${fill}"`]),
        ...(isBold || isTyped ? ['font-weight="bold"'] : []),
      ];
      return attributes.length === 0 ? escaped(run) : `<tspan ${attributes.join(' ')}>${escaped(run)}</tspan>`;
    });
    return `<text x="${margin}" y="${margin + index * line + size}">${spans.join('')}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<rect width="100%" height="100%" rx="8" fill="${page}" stroke="${frame}"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${size}" fill="${ink}" xml:space="preserve">`,
    ...rows,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** What a line holds after the last time that it was cleared. */
function drawnLast(text: string): string {
  return text.split('\r\u001b[K').at(-1)?.replaceAll('\r', '') ?? '';
}

function runsOf(text: string): readonly { readonly text: string; readonly style: Style }[] {
  let style: Style = {};
  return text.split(/(\u001b\[[\d;?]*[A-Za-z])/).flatMap((piece) => {
    const codes = /^\u001b\[([\d;]*)m$/.exec(piece)?.[1];
    if (codes !== undefined) style = codes.split(';').map(Number).reduce(after, style);
    return piece === '' || piece.startsWith('\u001b') ? [] : [{ text: piece, style }];
  });
}

function after(style: Style, code: number): Style {
  if (code === 0) return {};
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isDim: true };
  if (code === 22) return { ...style, isBold: false, isDim: false };
  const { colour: _colour, ...plain } = style;
  return code === 39 ? plain : { ...style, colour: code };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
