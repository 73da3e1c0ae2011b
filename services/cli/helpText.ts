import type { Command, CommandOption, CommandOptions } from './command.ts';
import type { CommandEntry } from './commandTable.ts';
import { GLOBAL_OPTIONS } from './globalOptions.ts';
import { wrapText } from './text/wrapText.ts';

/** The list of commands, for `espalier help`. */
export function programHelp(commands: readonly CommandEntry[], columns: number): string {
  const width = Math.max(...commands.map((c) => c.name.length)) + 2;
  return [
    'Espalier trains a language-model policy through unmodified agent harnesses.',
    '',
    'Usage: espalier <command> [options]',
    '',
    ...commands.map((c) => `  ${c.name.padEnd(width)}${c.summary}`),
    '',
    ...wrapText('Every command takes --data-dir DIR and --json. `espalier help COMMAND` says more.', columns),
  ].join('\n');
}

/** Usage, paragraphs and options of one command. */
export function commandHelp(command: Command, columns: number): string {
  const lines = [`Usage: espalier ${command.usage}`, '', ...wrapText(sentence(command.summary), columns)];
  for (const paragraph of (command.details ?? '').split('\n\n').filter((p) => p !== '')) {
    lines.push('', ...wrapText(paragraph.replace(/\s+/g, ' '), columns));
  }
  lines.push('', 'Options:', ...optionLines({ ...command.options, ...GLOBAL_OPTIONS }, columns));
  return lines.join('\n');
}

function optionLines(options: CommandOptions, columns: number): string[] {
  const rows = Object.entries(options)
    .filter(([, option]) => option.hidden !== true)
    .map(([name, option]) => [optionName(name, option), option.summary] as const);
  const width = Math.min(32, Math.max(...rows.map(([name]) => name.length)) + 2);
  return rows.flatMap(([name, summary]) => {
    const [first = '', ...rest] = wrapText(summary, Math.max(30, columns - width - 2));
    return [`  ${name.padEnd(width)}${first}`, ...rest.map((line) => ' '.repeat(width + 2) + line)];
  });
}

function optionName(name: string, option: CommandOption): string {
  const short = option.short === undefined ? '' : `-${option.short}, `;
  const value = option.type === 'string' ? ` ${option.placeholder ?? 'VALUE'}` : '';
  return `${short}--${name}${value} `;
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
