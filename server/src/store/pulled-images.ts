import type { Db } from './database.ts'

/** An image that was pulled here for a template or a build. */
export interface PulledImage {
  readonly image: string
  /** When it was pulled, or a template named it last. */
  readonly neededAt: Date
}

/** Notes an image that was pulled just now. */
export async function notePulledImage(db: Db, image: string, now: Date): Promise<void> {
  await db
    .insertInto('pulled_images')
    .values({ image, needed_at: now.getTime() })
    .onConflict((conflict) => conflict.column('image').doUpdateSet({ needed_at: now.getTime() }))
    .execute()
}

/** Images that were pulled here, as far as they are among these, are needed now. */
export async function noteNeededImages(db: Db, images: readonly string[], now: Date): Promise<void> {
  if (images.length === 0) return
  const change = { needed_at: now.getTime() }
  await db.updateTable('pulled_images').set(change).where('image', 'in', images).execute()
}

export async function listPulledImages(db: Db): Promise<PulledImage[]> {
  const rows = await db.selectFrom('pulled_images').select(['image', 'needed_at']).orderBy('id').execute()
  return rows.map(({ image, needed_at }) => ({ image, neededAt: new Date(Number(needed_at)) }))
}

export async function forgetPulledImage(db: Db, image: string): Promise<void> {
  await db.deleteFrom('pulled_images').where('image', '=', image).execute()
}
