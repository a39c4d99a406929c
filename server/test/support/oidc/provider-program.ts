import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, {
  type Adapter,
  type AdapterPayload,
  type ClientMetadata,
  type Configuration,
  type JWK,
} from 'oidc-provider'
import type { ProviderOrder, ProviderPerson, ProviderSettings } from './provider-orders.ts'

/**
 * A certified OpenID Connect provider as a program of its own: `node provider-program.ts SETTINGS`. It prints its issuer,
 * and takes orders from the test at `/orders`: which clients it knows, and who signs in next. It sends no requests.
 */
const settings = JSON.parse(process.argv[2] ?? '{}') as ProviderSettings
const clients = new Map<string, ClientMetadata>()
const people = new Map<string, ProviderPerson>()
let next: ProviderOrder['signsIn'] | undefined

/** Everything but the clients, in memory. */
class MemoryAdapter implements Adapter {
  static readonly #entries = new Map<string, AdapterPayload>()
  readonly #model: string

  constructor(model: string) {
    this.#model = model
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    MemoryAdapter.#entries.set(`${this.#model} ${id}`, payload)
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (this.#model === 'Client') return clients.get(id) as AdapterPayload | undefined
    return MemoryAdapter.#entries.get(`${this.#model} ${id}`)
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#all().find((entry) => entry.uid === uid)
  }

  async findByUserCode(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    const entry = await this.find(id)
    if (entry) entry.consumed = Math.floor(Date.now() / 1_000)
  }

  async destroy(id: string): Promise<void> {
    MemoryAdapter.#entries.delete(`${this.#model} ${id}`)
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, entry] of MemoryAdapter.#entries) if (entry.grantId === grantId) MemoryAdapter.#entries.delete(key)
  }

  #all(): AdapterPayload[] {
    return [...MemoryAdapter.#entries].flatMap(([key, entry]) => (key.startsWith(`${this.#model} `) ? [entry] : []))
  }
}

const { privateKey } = await generateKeyPair('RS256', { extractable: true })

const configuration: Configuration = {
  jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' } as JWK] },
  adapter: MemoryAdapter,
  claims: {
    openid: ['sub'],
    email: ['email', 'email_verified'],
    profile: ['name', 'mail'],
    groups: ['groups', '_claim_names'],
  },
  scopes: ['openid', 'email', 'profile', 'groups'],
  // As most providers do not: claims of scopes stand at the userinfo endpoint alone.
  conformIdTokenClaims: settings.hasClaimsAtUserInfoOnly,
  cookies: { keys: ['a key of a test'] },
  features: {
    devInteractions: { enabled: false },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => {
        ctx.body = `<!doctype html><title>Sign out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`
      },
    },
  },
  findAccount: (_, sub) => ({
    accountId: sub,
    claims: () => ({ sub, ...people.get(sub)?.claims }),
  }),
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  async loadExistingGrant({ oidc }) {
    const accountId = oidc.session?.accountId
    const grant = new oidc.provider.Grant({
      ...(oidc.client ? { clientId: oidc.client.clientId } : {}),
      ...(accountId ? { accountId } : {}),
    })
    grant.addOIDCScope(String(oidc.params?.scope))
    await grant.save()
    return grant
  },
  pkce: { required: () => true },
  // Without its dispatcher, which refuses to call loopback addresses, where Berth is.
  fetch: (url, options) => fetch(url, withoutDispatcher(options as RequestInit)),
}

const server = createServer()
server.listen(settings.port ?? 0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, configuration)
  provider.on('backchannel.error', (_, error) => process.stderr.write(`${error.stack}\n`))
  const handle = provider.callback()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/orders') void take(request, response)
    else if (request.url?.startsWith('/interaction/')) void interact(provider, request, response)
    else void handle(request, response)
  })
  process.stdout.write(`issuer ${issuer}\n`)
})

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { client, signsIn } = JSON.parse(await text(request)) as ProviderOrder
  if (client) clients.set(client.client_id, client)
  if (signsIn) {
    next = signsIn
    if ('sub' in signsIn) people.set(signsIn.sub, signsIn)
  }
  response.end('{}')
}

/** The person signs in, or does not, without a page. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!next) throw new Error('no order says who signs in')
  const result = 'sub' in next ? { login: { accountId: next.sub } } : next
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

function withoutDispatcher(options: RequestInit): RequestInit {
  const rest = { ...options }
  delete rest.dispatcher
  return rest
}
