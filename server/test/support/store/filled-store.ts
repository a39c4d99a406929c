import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { installationName, openDatabase } from '#/store/database.ts'
import { insertUser, moveUserState } from '#/store/users.ts'
import { copyEmptyStore } from './empty-store.ts'

/** A store of an installation with users and signing keys, on which no service runs. @param url null for SQLite */
export async function fillSmallStore(url: string | null, dataDir: string, installation: string): Promise<void> {
  if (url === null) await copyEmptyStore(dataDir)
  const { db, close } = await openDatabase(url, dataDir)
  await installationName(db, () => installation)
  for (const name of ['boss', 'ann', 'zoë', 'Bob']) {
    const slug = name.toLowerCase().replace(/\W/g, 'x')
    const user = { email: `${name}@x.org`, slug, isAdmin: name === 'boss', now: new Date() }
    const { id } = await insertUser(db, user)
    await moveUserState(db, id, 'registered', 'verified')
    await db
      .insertInto('used_slugs')
      .values({ slug: `${slug}${id}` })
      .execute()
  }
  // Its id is never given again, in no copy.
  await db.deleteFrom('users').where('slug', '=', 'bob').execute()
  await close()
  await loadSigningKeys(dataDir)
}

/** E-mail addresses of a store. */
export async function addressesIn(url: string | null, dataDir: string): Promise<string[]> {
  const { db, close } = await openDatabase(url, dataDir)
  const rows = await db.selectFrom('users').select('email').orderBy('id').execute()
  await close()
  return rows.map(({ email }) => email)
}
