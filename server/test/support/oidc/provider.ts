import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Lifetime } from '../berth.ts'
import { ReusedProgram } from '../reused-program.ts'
import type { ProviderOrder, ProviderPerson, ProviderSettings } from './provider-orders.ts'

/** A certified provider (npm `oidc-provider`) that runs as a process of its own. */
export interface TestProvider {
  readonly issuer: string
  order(order: ProviderOrder): Promise<void>
  /** The person who signs in next. */
  personIs(sub: string, claims: ProviderPerson['claims']): Promise<void>
  stop(): Promise<void>
}

/** The client that Berth is at the provider. */
export const client = { id: 'berth', secret: 'a secret of a test: 100 % & more' } as const

/** Starts one, and ends it with the test. */
export async function startProvider(
  lifetime: Lifetime,
  settings: Partial<ProviderSettings> = {},
): Promise<TestProvider> {
  const program = path.join(import.meta.dirname, 'provider-program.ts')
  const given: ProviderSettings = { hasClaimsAtUserInfoOnly: false, ...settings }
  const child = spawn(process.execPath, [program, JSON.stringify(given)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const errors: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
  }
  lifetime.after(stop)
  const issuer = await Promise.race([
    issuerIn(child.stdout),
    exited.then(() => {
      throw new Error(`the provider ended: ${errors.join('')}`)
    }),
  ])
  const order: TestProvider['order'] = async (what) => {
    const answer = await fetch(`${issuer}/orders`, { method: 'POST', body: JSON.stringify(what) })
    if (!answer.ok) throw new Error(`the provider took no order: ${answer.status}`)
  }
  const personIs: TestProvider['personIs'] = (sub, claims) => order({ signsIn: { sub, claims } })
  return { issuer, order, personIs, stop }
}

const shared = new ReusedProgram<TestProvider>({
  start: () => startProvider({ after: () => undefined }),
  stop: (provider) => provider.stop(),
})

/** One for the test files of a process, which register their clients anew: to load it takes a second of CPU time. */
export const useProvider = (lifetime: Lifetime): Promise<TestProvider> => shared.use(lifetime)

/** What it says later is read and dropped, or it would stand still. */
function issuerIn(output: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    createInterface(output).on('line', (line) => {
      const [, issuer] = /^issuer (.+)$/.exec(line) ?? []
      if (issuer !== undefined) resolve(issuer)
    })
  })
}
