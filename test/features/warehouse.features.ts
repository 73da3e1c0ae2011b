import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Warehouse } from '../../infra/warehouse/warehouse.ts';

/** Opens warehouses over one storage, one after the other. */
export interface WarehouseFixture {
  open(): Promise<Warehouse>;
  dispose(): Promise<void>;
}

const coded = (code: string) => expect.objectContaining({ code });

/** What every warehouse must do, run against each adapter. */
export function testWarehouse(name: string, createFixture: () => Promise<WarehouseFixture>): void {
  describe(`warehouse: ${name}`, () => {
    let fixture: WarehouseFixture;
    let warehouse: Warehouse;
    beforeAll(async () => {
      fixture = await createFixture();
      warehouse = await fixture.open();
    });
    afterAll(async () => {
      await warehouse.close();
      await fixture.dispose();
    });
    let tables = 0;
    const table = async (columns: string) => {
      const created = `t${tables++}`;
      await warehouse.command(
        `CREATE TABLE ${created} (${columns}) ENGINE = MergeTree ORDER BY a
         SETTINGS non_replicated_deduplication_window = 1000`,
      );
      return created;
    };
    const count = async (of: string) =>
      Number((await warehouse.query(`SELECT count() AS n FROM ${of}`))[0]?.n);

    it('gives rows back as they went in, 64-bit integers as text', async () => {
      const t = await table(
        'a UInt64, s String, f Nullable(Float64), m Map(String, String), l Array(String)',
      );
      const rows = [
        { a: '9007199254740993', s: "it's\n\n\\ \u0000 ü 漢 🌲", f: null, m: { 'k"': 'v' }, l: ['x', ''] },
        { a: '9007199254740994', s: '', f: 0.1, m: {}, l: [] },
      ];
      await warehouse.insert(t, rows, 'one');
      expect(await warehouse.query(`SELECT * FROM ${t} ORDER BY a`)).toEqual(rows);
    });

    it('adds nothing for a token it has seen, and keeps no token for the next insert', async () => {
      const t = await table('a UInt64');
      await warehouse.insert(t, [{ a: 1 }, { a: 2 }], "A'1");
      await warehouse.insert(t, [{ a: 1 }, { a: 2 }], "A'1");
      expect(await count(t)).toBe(2);
      await warehouse.insert(t, [{ a: 3 }], 'B');
      await warehouse.insert(t, [{ a: 4 }], 'C');
      await warehouse.command(`INSERT INTO ${t} VALUES (5)`);
      await warehouse.command(`INSERT INTO ${t} VALUES (6)`);
      expect(await count(t)).toBe(6);
    });

    it('keeps a large insert in one block', async () => {
      const t = await table('a UInt64, s String');
      const rows = Array.from({ length: 3000 }, (_, i) => ({ a: i, s: 'x'.repeat(8000) }));
      await warehouse.insert(t, rows, 'big');
      await warehouse.insert(t, rows, 'big');
      expect(await count(t)).toBe(3000);
      const parts = await warehouse.query('SELECT count() AS n FROM system.parts WHERE table = {t:String}', {
        params: { t },
      });
      expect(parts).toEqual([{ n: '1' }]);
    });

    it('turns base64 of packed numbers into arrays', async () => {
      const t = await table(
        `a UInt8, x_b64 String EPHEMERAL, x Array(Int32) DEFAULT reinterpret(base64Decode(x_b64), 'Array(Int32)')`,
      );
      const packed = (...ids: number[]) => Buffer.from(Int32Array.from(ids).buffer).toString('base64');
      await warehouse.insert(
        t,
        [
          { a: 1, x_b64: packed(1, -2, 2 ** 31 - 1) },
          { a: 2, x_b64: packed() },
        ],
        'x',
      );
      expect(await warehouse.query(`SELECT x FROM ${t} ORDER BY a`)).toEqual([
        { x: [1, -2, 2 ** 31 - 1] },
        { x: [] },
      ]);
    });

    it('binds parameters', async () => {
      const params = { s: "a'; DROP TABLE x", n: 3 };
      expect(await warehouse.query('SELECT {s:String} AS s, {n:UInt8} AS n', { params })).toEqual([params]);
    });

    it('takes a closing semicolon and a closing comment', async () => {
      expect(await warehouse.query('SELECT 1 AS a; ')).toEqual([{ a: 1 }]);
      expect(await warehouse.query("SELECT ';' AS a -- why not")).toEqual([{ a: ';' }]);
      expect(await warehouse.query('EXPLAIN SELECT 1')).not.toEqual([]);
      expect((await warehouse.query('SHOW TABLES')).length).toBeGreaterThan(0);
    });

    it('refuses writing statements in queries', async () => {
      const t = await table('a UInt8');
      const statements = [
        `INSERT INTO ${t} VALUES (1)`,
        `DROP TABLE ${t}`,
        'CREATE TABLE z (a Int8) ENGINE = Memory',
        'SET readonly = 0',
        "SELECT 1 INTO OUTFILE '/tmp/never'",
        "SELECT * FROM file('/etc/passwd', 'LineAsString')",
        'SELECT 1 SETTINGS readonly = 0',
      ];
      for (const sql of statements) {
        await expect(warehouse.query(sql), sql).rejects.toThrow(coded('E_SQL_READ_ONLY'));
      }
      expect(await count(t)).toBe(0);
      await warehouse.insert(t, [{ a: 1 }], 'still');
      expect(await count(t)).toBe(1);
    });

    it('names what is wrong with a statement', async () => {
      await expect(warehouse.query('SELECT * FROM nowhere')).rejects.toThrow(coded('E_SQL'));
      await expect(warehouse.query('SELECT 1; SELECT 2')).rejects.toThrow(coded('E_SQL'));
      await expect(warehouse.query('  ')).rejects.toThrow(coded('E_SQL'));
      await expect(warehouse.insert('nowhere', [{ a: 1 }], 'x')).rejects.toThrow(coded('E_SQL'));
    });

    it('ends a statement that takes too long, while inserts go on', async () => {
      const t = await table('a UInt64');
      const slow = warehouse.query('SELECT sum(sipHash64(number)) FROM numbers(1000000000000)', {
        timeoutSeconds: 1,
      });
      const refused = expect(slow).rejects.toThrow(coded('E_SQL'));
      await warehouse.insert(t, [{ a: 1 }], 'meanwhile');
      await refused;
      expect(await count(t)).toBe(1);
    });

    it('keeps rows and tokens when it is closed and opened again', async () => {
      const t = await table('a UInt64');
      await warehouse.insert(t, [{ a: 1 }], 'T');
      await warehouse.close();
      warehouse = await fixture.open();
      await warehouse.insert(t, [{ a: 1 }], 'T');
      expect(await count(t)).toBe(1);
    });

    it('answers every view of an empty archive', async () => {
      const views = await warehouse.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View' ORDER BY name",
      );
      expect(views.length).toBeGreaterThan(6);
      for (const { name } of views)
        expect(await warehouse.query(`SELECT * FROM ${name}`), String(name)).toEqual([]);
    });
  });
}
