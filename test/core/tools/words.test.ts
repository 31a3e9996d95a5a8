import assert from 'node:assert/strict';
import { keywords, lineTokens, splitIdentifier, stem } from '../../../src/core/tools/words.ts';
import { classifyLine } from '../../../src/core/tools/definitions.ts';

describe('words of a question', () => {
  for (const [question, expected] of [
    ['Where is the rental price calculated?', ['rental', 'price', 'calculated']],
    ['What does `applyMemberDiscount` do?', ['applyMemberDiscount']],
    ["how's MAX_SIZE used in this project", ['MAX_SIZE']],
    ['Please show me the files', ['show', 'files']],
    ['Where is it?', []],
    ['租金在哪里计算？', ['租金', '计算']],
    ['重跑gen-itgc后', ['重跑', 'gen', 'itgc', '后']],
    ['issue化してほしい', ['issue', '化', 'ほしい']],
    ['Где считается цена?', ['Где', 'считается', 'цена']],
    ['', []],
    ['Colour colour, COLOUR and colours', ['Colour', 'colours']],
    ['What does __init_all__ do, and _?', ['init_all']],
    ['about by here just need should too why your yours', []],
    ['the app describes its implement methods used price', ['describes', 'price']],
    ['自転車修理方法', ['自転', '転車', '車修', '修理', '理方', '方法']],
  ] as const) {
    it(question, () => assert.deepEqual(keywords(question), [...expected]));
  }
});

describe('stems', () => {
  for (const forms of [
    ['calculate', 'calculates', 'calculated', 'calculating', 'calculation', 'calculator'],
    ['price', 'prices', 'priced', 'pricing'],
    ['rent', 'rents', 'rented', 'renting', 'rental', 'rentals', 'renter'],
    ['reserve', 'reserves', 'reserved', 'reservation', 'reservations'],
    ['company', 'companies'],
    ['stop', 'stops', 'stopped', 'stopping'],
    ['class', 'classes'],
    ['status', 'statuses'],
    ['tax', 'taxes'],
    ['fee', 'fees'],
    ['user', 'users'],
    ['key', 'keys'],
    ['add', 'adds', 'added', 'adding'],
    ['try', 'tries', 'tried', 'trying'],
    ['supply', 'supplies'],
  ]) {
    it(`of ${forms.join(', ')} are one`, () => assert.equal(new Set(forms.map(stem)).size, 1));
  }
  it('keep apart what is not one word', () => {
    assert.equal(
      new Set(['rent', 'current', 'parent', 'price', 'print', 'station', 'custom'].map(stem)).size,
      7,
    );
  });
});

it('stems are what forms share: one letter of two at the end, i for y; other scripts and numbers stay', () => {
  assert.deepEqual(['apples', 'stopped', 'try', 'types', 'Größes', '2prices', 'ids'].map(stem), [
    'appl',
    'stop',
    'tri',
    'typ',
    'größes',
    '2prices',
    'ids',
  ]);
});

it('words of a line are those of its scripts, and none where there are none', () => {
  assert.deepEqual(['---', 'ab-c', '价格', '价格 = x'].map(lineTokens), [
    [],
    ['ab', 'c'],
    ['价格'],
    ['价格', 'x'],
  ]);
});

it('names are split at their humps, underscores and numbers', () => {
  assert.deepEqual(
    ['calculateRentalPrice', 'MAX_SIZE', 'HTTPServer2Go', 'über-Größe', '__init__'].map(splitIdentifier),
    [
      ['calculate', 'Rental', 'Price'],
      ['MAX', 'SIZE'],
      ['HTTP', 'Server2', 'Go'],
      ['über', 'Größe'],
      ['init'],
    ],
  );
});

describe('definitions', () => {
  for (const [line, kind, name] of [
    ['export async function calculatePrice(a: number) {', 'definition', 'calculatePrice'],
    ['export default class Shop {', 'definition', 'Shop'],
    ['export const rate = 0.85;', 'definition', 'rate'],
    ['  private async load(path: string): Promise<void> {', 'definition', 'load'],
    ['  #pay(amount) {', 'definition', 'pay'],
    ['def calculate_price(rental):', 'definition', 'calculate_price'],
    ['func (s *Server) Start(port int) error {', 'definition', 'Start'],
    ['pub(crate) fn parse(input: &str) -> Tree {', 'definition', 'parse'],
    ['    public static int sum(List<Integer> values) {', 'definition', 'sum'],
    ['CREATE TABLE IF NOT EXISTS sessions (', 'definition', 'sessions'],
    ['  if (price > 3) {', 'other', ''],
    ['  return price(3);', 'other', ''],
    ['  } else if (ok) {', 'other', ''],
    ['// price', 'comment', ''],
    [' * price', 'comment', ''],
    ["import { price } from './pricing.ts';", 'import', ''],
    ["const fs = require('fs');", 'import', ''],
  ] as const) {
    it(line, () => assert.deepEqual(classifyLine(line, false), { kind, name }));
  }
  it('of a document are its headings', () => {
    assert.deepEqual(classifyLine('## The price', true), { kind: 'heading', name: 'The price' });
  });
});
