import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTHeaderParameters, type JWTPayload } from 'jose'
import type { Lifetime } from '../berth.ts'
import type { ProviderFields } from './berth-with-providers.ts'

/** How the provider deviates from the standard; whatever is left out it does as it should. */
export interface Hostility {
  /** Keys of the discovery document that differ. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Claims of the ID token that differ; undefined leaves one out. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Makes the ID token instead. @returns it, or undefined for none */
  readonly idToken?: (claims: JWTPayload, keys: HostileKeys) => Promise<string | undefined>
  /** Answers of endpoints instead of their own, by path. */
  readonly answers?: Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => void>>
  /** Called for each request that has the client's secret in the header. @returns whether it is refused */
  readonly refusesBasic?: (request: IncomingMessage) => boolean
  /** Accepts it in the header alone. */
  readonly refusesPost?: true
  readonly userinfo?: Readonly<Record<string, unknown>>
}

export interface HostileKeys {
  readonly privateKey: CryptoKey
  /** The public key as it is published, as text. */
  readonly publicText: string
  readonly secret: string
  sign(claims: JWTPayload, header?: Partial<JWTHeaderParameters>, key?: CryptoKey): Promise<string>
}

/** A fake provider that answers wrongly, for what no certified one can be made to do. */
export class HostileProvider {
  readonly issuer: string
  readonly keys: HostileKeys
  hostility: Hostility = {}
  /** Of the last authorization request that was looked at. */
  nonce = ''

  private constructor(issuer: string, keys: HostileKeys) {
    this.issuer = issuer
    this.keys = keys
  }

  static async start(lifetime: Lifetime): Promise<HostileProvider> {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }
    const keys: HostileKeys = {
      privateKey,
      publicText: JSON.stringify(jwk),
      secret: 'the secret of the client',
      sign: (claims, header = {}, key = privateKey) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k', ...header }).sign(key),
    }
    const server = createServer()
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const provider = new HostileProvider(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys)
    server.on('request', (request, response) => void provider.#answer(request, response, jwk))
    lifetime.after(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return provider
  }

  /** As in the file of Berth's providers. */
  get fields(): ProviderFields {
    return { issuer: this.issuer, client_id: 'berth', client_secret: this.keys.secret }
  }

  /** The address to which it sends the browser back after this request, with a code. */
  callback(request: URL, more: Readonly<Record<string, string | undefined>> = {}): URL {
    this.nonce = request.searchParams.get('nonce') ?? ''
    const back = new URL(request.searchParams.get('redirect_uri') ?? '')
    const answer = { code: 'code', state: request.searchParams.get('state') ?? '', ...more }
    for (const [name, value] of Object.entries(answer)) if (value !== undefined) back.searchParams.set(name, value)
    return back
  }

  async #answer(request: IncomingMessage, response: ServerResponse, jwk: object): Promise<void> {
    const path = request.url ?? ''
    const { answers, metadata, userinfo } = this.hostility
    await text(request)
    const hasBasic = path === '/token' && request.headers.authorization !== undefined
    if (hasBasic && this.hostility.refusesBasic?.(request))
      return void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}')
    if (path === '/token' && this.hostility.refusesPost && request.headers.authorization === undefined)
      return void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}')
    const instead = answers?.[path]
    if (instead) return instead(response, request)
    const json = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    if (path === '/.well-known/openid-configuration') return void json({ ...this.document(), ...metadata })
    if (path === '/jwks') return void json({ keys: [jwk] })
    if (path === '/userinfo') return void json({ sub: 'eve', ...userinfo })
    if (path === '/token')
      return void json({ access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: await this.#idToken() })
    response.writeHead(404).end()
  }

  /** Its discovery document, as it should be. */
  document() {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      userinfo_endpoint: `${this.issuer}/userinfo`,
      jwks_uri: `${this.issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }
  }

  async #idToken(): Promise<string | undefined> {
    const now = Math.floor(Date.now() / 1_000)
    const claims = {
      iss: this.issuer,
      aud: 'berth',
      sub: 'eve',
      nonce: this.nonce,
      iat: now,
      exp: now + 300,
      email: 'eve@x.org',
      email_verified: true,
      ...this.hostility.claims,
    }
    return this.hostility.idToken ? this.hostility.idToken(claims, this.keys) : this.keys.sign(claims)
  }
}

/** A token without a library that refuses to make it: `alg` `none`, or an HMAC by this key. */
export function handMadeToken(header: object, claims: object, hmacKey?: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part(header)}.${part(claims)}`
  const signature = hmacKey === undefined ? '' : createHmac('sha256', hmacKey).update(signed).digest('base64url')
  return `${signed}.${signature}`
}
