import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { AccessTokens } from '../../server/src/accounts/sessions/access-token.ts'
import { loadSigningKeys } from '../../server/src/accounts/sessions/signing-keys.ts'
import { containerSpec } from '../../server/src/containers/launch/build-container-spec.ts'
import { readTemplates } from '../../server/src/templates/read-templates.ts'
import { installationName, openDatabase, tokenEra, type Db } from '../../server/src/store/database.ts'
import { emailOf, fleetType, slugOf, type Fleet } from './fake-engine/fleet.ts'

/** The size of the store at one level of the benchmark. */
export interface Size {
  /** Containers that the engine has. */
  readonly containers: number
  /** How many of these run. */
  readonly running: number
  /** Users with one record each; those without a container had one before. */
  readonly people: number
}

/** A data folder of Berth, and the initial state of the fake engine. */
export interface Seeded {
  readonly size: Size
  readonly dataDir: string
  readonly fleetFile: string
  readonly fleet: Fleet
  /** A token of the n-th user; the first is an administrator. */
  tokenOf(person: number): Promise<string>
}

/** The image of every app of the fleet; it exists in the fake engine only. */
const image = 'fleet-app:1'
const installation = 'berth-fleet'
/** In seconds; longer than any run. */
const tokenLifetime = 7_200
const [minute, day] = [60_000, 86_400_000]

/** Setting `CONTAINER_TEMPLATES`. @param idlePause in seconds; 0 never */
export const templatesWith = (appPort: number, idlePause = 0) =>
  JSON.stringify({
    [fleetType]: {
      display_name: 'Development',
      description: 'Where work is done',
      image,
      port: appPort,
      memory: '256m',
      ...(idlePause > 0 ? { idle_pause: idlePause } : {}),
    },
  })

export interface SeedOptions {
  /** Berth's, which its addresses contain. */
  readonly port: number
  readonly appPort: number
  /** The engine's id of the n-th container. */
  readonly idOf: (number: number) => string
}

/** Fills a store like a university's after some years, through the store's own modules. */
export async function seed(folder: string, size: Size, { port, appPort, idOf }: SeedOptions): Promise<Seeded> {
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const key = await loadSigningKeys(dataDir)
  const database = await openDatabase(null, dataDir)
  await installationName(database.db, () => installation)
  const era = await tokenEra(database.db, () => randomUUID().slice(0, 8))
  await fillStore(database.db, size, { appPort, idOf })
  await database.close()

  const spawnerUrl = `http://spawner.berth.localhost:${port}`
  const settings = {
    installation,
    spawnerUrl,
    jwksUrl: `${spawnerUrl}/api/.well-known/jwks.json`,
    jwks: JSON.stringify(key.jwks),
    signingJwks: JSON.stringify(key.signingJwks),
  }
  const [template] = readTemplates(templatesWith(appPort), 'CONTAINER_TEMPLATES').templates
  if (!template) throw new Error('there is no template')
  const fingerprints = Array.from({ length: size.containers }, (_, index) => {
    const person = index + 1
    return containerSpec({ id: person, slug: slugOf(person), email: emailOf(person) }, template, settings).fingerprint
  })
  const fleet: Fleet = { installation, image, appPort, people: size.people, fingerprints, running: size.running }
  const fleetFile = path.join(folder, 'fleet.json')
  writeFileSync(fleetFile, JSON.stringify(fleet))

  const tokens = new AccessTokens(key, spawnerUrl, tokenLifetime, () => `${era}.${randomUUID()}`)
  const issued = new Map<number, Promise<string>>()
  const tokenOf = async (person: number) => {
    const token = issued.get(person) ?? tokens.issue({ id: person, isAdmin: person === 1 }, tokens.plan(new Date()))
    issued.set(person, token)
    return token
  }
  return { size, dataDir, fleetFile, fleet, tokenOf }
}

/**
 * One statement each for users and records; the engine's ids come from a temporary table, because SQLite has no
 * SHA-256.
 */
async function fillStore(
  db: Db,
  { people, containers, running }: Size,
  { appPort, idOf }: Pick<SeedOptions, 'appPort' | 'idOf'>,
): Promise<void> {
  const now = Date.now()
  const run = (text: string) => sql.raw(text).execute(db)
  const numbers = `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${people})`
  // Users with a container used it within the last ten days.
  const lastUsed = `${now} - case when n <= ${containers} then n % 14000 else 43200 + n % 400000 end * ${minute}`
  await run(`${numbers} insert into users (id, email, slug, state, is_admin, is_blocked, last_used, created_at)
    select n, '${emailOf(0).replace('0', "' || n || '")}', '${slugOf(0).replace('0', "' || n || '")}', 'active',
      case when n = 1 then 1 else 0 end, 0, ${lastUsed}, ${now - 400 * day} from numbers`)
  await run(`insert into used_slugs (slug) select slug from users`)
  await run('create temp table engine_ids (n integer primary key, id text not null)')
  for (let from = 1; from <= containers; from += 500) {
    const some = Array.from({ length: Math.min(500, containers - from + 1) }, (_, index) => from + index)
    await run(`insert into engine_ids values ${some.map((n) => `(${n}, '${idOf(n)}')`).join(', ')}`)
  }
  await run(`insert into user_containers (user_id, container_type, container_id, container_port, template_image,
      created_at, last_used, is_blocked, stopped_at, running_since)
    select users.id, '${fleetType}', engine_ids.id, case when engine_ids.id is null then null else ${appPort} end,
      '${image}', ${now - 300 * day}, last_used, 0,
      case when users.id <= ${running} then null else last_used end,
      case when users.id <= ${running} then last_used else null end
    from users left join engine_ids on engine_ids.n = users.id`)
  await run('drop table engine_ids')
}
