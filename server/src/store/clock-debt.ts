import type { Db } from './database.ts'

const key = 'clock debt'

/** How long a jump back can be made good for, in ms: a machine that sleeps later must not lengthen the life of links. */
const maxAge = 3_600_000

/** How far the clock was set back, as long as it was not moved forward again. */
export interface ClockDebt {
  /** ms; 0 for none. */
  readonly owed: number
  /** The latest jump back, by the clock after it: what it clamped, and what was written since, is not earlier. */
  readonly since: number
}

/** @param at by the clock before a jump: a debt that is too old by then is none */
export async function readClockDebt(db: Db, at?: number): Promise<ClockDebt> {
  const row = await db.selectFrom('installation').select('value').where('name', '=', key).executeTakeFirst()
  const debt = row ? (JSON.parse(row.value) as ClockDebt) : { owed: 0, since: 0 }
  return at !== undefined && at - debt.since > maxAge ? { ...debt, owed: 0 } : debt
}

/** Inside the transaction of a jump back by so many ms. @param now by the new clock */
export async function addClockDebt(tx: Db, by: number, now: number): Promise<void> {
  const { owed } = await readClockDebt(tx, now + by)
  await writeClockDebt(tx, { owed: owed + by, since: now })
}

/** Inside the transaction of a jump forward by so many ms. @param now by the new clock @returns how much of it makes good, in ms */
export async function payClockDebt(tx: Db, by: number, now: number): Promise<number> {
  const { owed, since } = await readClockDebt(tx, now - by)
  const paid = Math.min(by, owed)
  if (paid > 0) await writeClockDebt(tx, { owed: owed - paid, since: since + paid })
  return paid
}

async function writeClockDebt(tx: Db, debt: ClockDebt): Promise<void> {
  const value = JSON.stringify(debt)
  await tx
    .insertInto('installation')
    .values({ name: key, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
