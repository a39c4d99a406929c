import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lifetime } from '../berth.ts'
import { startEnginelessBerth, type EnginelessBerth, type EnginelessOptions } from '../berth-without-engine.ts'
import { client, type TestProvider } from './provider.ts'

/** Where the tests' Berth is reached: requests go to its port, the name is not resolved. */
export const publicUrl = 'http://spawner.berth.example'

/** Fields of one provider, as in the file. */
export type ProviderFields = Readonly<Record<string, unknown>>

/** A Berth with these providers. */
export async function startBerthWith(
  lifetime: Lifetime,
  providers: Readonly<Record<string, ProviderFields>>,
  options: EnginelessOptions = {},
): Promise<EnginelessBerth> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-providers-'))
  const file = path.join(folder, 'providers.json')
  writeFileSync(file, JSON.stringify(providers))
  lifetime.after(async () => rmSync(folder, { recursive: true, force: true }))
  const env = { BASE_DOMAIN: 'berth.example', OIDC_PROVIDERS_FILE: file, LOG_LEVEL: 'debug', ...options.env }
  return startEnginelessBerth(lifetime, { ...options, env })
}

/** Fields of the real provider, which gets to know Berth as its client. */
export async function registerAt(
  provider: TestProvider,
  id = 'main',
  more: ProviderFields = {},
  /** Public address of Berth, and where the provider reaches it to end sessions. */
  { url = publicUrl, backchannel }: { url?: string; backchannel?: string } = {},
): Promise<ProviderFields> {
  const path = `/api/auth/oidc/${id}`
  await provider.order({
    client: {
      client_id: `${client.id}-${id}`,
      client_secret: client.secret,
      redirect_uris: [`${url}${path}/callback`],
      post_logout_redirect_uris: [`${url}/login`],
      ...(backchannel ? { backchannel_logout_uri: `${backchannel}${path}/backchannel-logout` } : {}),
      scope: 'openid email profile groups',
    },
  })
  return { issuer: provider.issuer, client_id: `${client.id}-${id}`, client_secret: client.secret, ...more }
}
