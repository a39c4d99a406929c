import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startBerth, type Lifetime } from '../../server/test/support/berth.ts'
import { fillStore, loginToken } from '../accounts-store.ts'
import { startService } from '../service-process.ts'

export const webDir = path.resolve(import.meta.dirname, '../../web/dist')

/** A Berth that serves the built front end, and a signed-in user. */
export interface Service {
  readonly url: string
  readonly token: string
}

/** With a real engine and store, and a user with a running container. */
export async function everyday(lifetime: Lifetime): Promise<Service> {
  const berth = await startBerth(lifetime, { webDir })
  const { token } = await berth.signUp('ann@bench.test')
  return { url: berth.app.spawnerUrl, token }
}

/** Another process with this many users in its store, and an administrator. */
export async function crowded(lifetime: Lifetime, people: number): Promise<Service> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-bench-'))
  lifetime.after(async () => rmSync(dataDir, { recursive: true, force: true }))
  await fillStore(null, dataDir, { people, links: people })
  const program = path.join(import.meta.dirname, '../accounts-service.ts')
  const { port, stop } = await startService(program, [dataDir, '', webDir])
  lifetime.after(stop)
  const url = `http://spawner.berth.localhost:${port}`
  const verified = await fetch(`http://127.0.0.1:${port}/api/auth/verify-login?token=${loginToken(0)}`)
  const { access_token: token } = (await verified.json()) as { access_token: string }
  return { url, token }
}
