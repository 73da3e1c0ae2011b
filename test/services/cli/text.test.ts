import { expect, test } from 'vitest';
import { didYouMean, nearest } from '../../../services/cli/nearest.ts';
import { formatTable } from '../../../services/cli/text/formatTable.ts';
import { wrapText } from '../../../services/cli/text/wrapText.ts';

test('a table pads its columns, stands numbers to the right and cuts the last column', () => {
  expect(
    formatTable(
      ['name', 'n', 'why'],
      [
        ['a', '5', 'short'],
        ['bcd', '10', 'much longer'],
      ],
      16,
    ),
  ).toBe(
    ['name   n  why', '----  --  ------…', 'a      5  short', 'bcd   10  much …']
      .join('\n')
      .replace('------…', '-----…'),
  );
});

test('text is broken at spaces', () => {
  expect(wrapText('one two three', 8)).toEqual(['one two', 'three']);
});

test('the nearest word is offered, a far one is not', () => {
  expect(nearest('shwo', ['show', 'sql'])).toBe('show');
  expect(didYouMean('frobnicate', ['show', 'sql'])).toBe('');
});
