import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { nodeFiles } from '../../../src/core/store/fileLayer.ts';
import { crc32 } from '../../../src/core/store/frame.ts';
import { checksumOf, readImage, type RoomyImage } from '../../../src/core/store/image.ts';
import { Database, loadEngine, type Engine } from '../../../src/core/store/openDatabase.ts';
import { makeFolder } from './support/stores.ts';
import { wasmFile } from './support/values.ts';

const insert = 'INSERT INTO notes(text) VALUES(?)';

describe('image of a database', () => {
  let engine: Engine;
  before(async () => {
    engine = await loadEngine(fs.readFileSync(wasmFile));
  });

  function add(database: Database, ...texts: readonly string[]): void {
    database.begin();
    for (const text of texts) database.run({ sql: insert, parameters: [text] });
    database.commit();
  }

  function texts(database: Database): unknown[] {
    return database.all('SELECT text FROM notes ORDER BY id').map((row) => row['text']);
  }

  /** Reads a file with one note as the store does. */
  function openFile(): { image: RoomyImage; database: Database } {
    const first = new Database(engine, null);
    first.run({ sql: 'CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT)', parameters: [] });
    add(first, 'first');
    const file = path.join(makeFolder(), 'file.db');
    const bytes = first.image();
    fs.writeFileSync(file, bytes);
    first.close();
    const { image, crc } = readImage(nodeFiles, file);
    assert.equal(crc, crc32(bytes));
    assert.equal(checksumOf(nodeFiles, file), crc);
    return { image, database: new Database(engine, image) };
  }

  it('is the memory it was opened from, also after it has grown', () => {
    const { image, database } = openFile();
    add(database, 'second', 'x'.repeat(image.length / 2));
    const grown = database.image();
    assert.ok(grown.length > image.length);
    assert.equal(grown.buffer, image.buffer);
    const again = new Database(engine, Uint8Array.from(grown));
    assert.deepEqual(texts(again), texts(database));
    assert.equal(again.maintain('PRAGMA integrity_check'), 'ok');
  });

  it('is copied once sql.js has moved to other memory', () => {
    for (const leave of [
      (database: Database, size: number): void => add(database, 'x'.repeat(3 * size)),
      (database: Database, size: number): void => {
        add(database, 'x'.repeat(size / 2));
        database.run({ sql: 'DELETE FROM notes WHERE id = 2', parameters: [] });
        database.maintain('VACUUM');
      },
    ]) {
      const { image, database } = openFile();
      leave(database, image.length);
      add(database, 'last');
      const copy = database.image();
      assert.notEqual(copy.buffer, image.buffer);
      assert.deepEqual(texts(new Database(engine, Uint8Array.from(copy))), texts(database));
    }
  });

  it('long texts are texts, whatever they hold', () => {
    const { database } = openFile();
    const long = ['z'.repeat(501), '漢字😀'.repeat(300), `a\0b${'?'.repeat(600)}`];
    add(database, ...long);
    assert.deepEqual(texts(database).slice(1), long);
    const types = database.all('SELECT DISTINCT typeof(text) AS type FROM notes');
    assert.deepEqual(types, [{ type: 'text' }]);
    const literal = { sql: `INSERT INTO notes(text) VALUES('?' || ?)`, parameters: ['y'.repeat(501)] };
    database.run(literal);
    assert.equal(texts(database).at(-1), `?${'y'.repeat(501)}`);
  });
});
