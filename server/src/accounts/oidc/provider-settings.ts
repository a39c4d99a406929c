import { LineCounter, isMap, isScalar, parseDocument, type Pair } from 'yaml'
import { isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
import { readSecretFile, type ReadSecret } from '#/machine/secret-file.ts'
import { localSource } from '#/store/groups.ts'
import { providerFields, type ProviderField } from './provider-descriptions.ts'

/** An OpenID Connect provider as the operator configures it, checked. */
export interface Provider {
  /** Key in `OIDC_PROVIDERS_FILE`; part of the redirect address. */
  readonly id: string
  /** On the button of the login page. */
  readonly displayName: string
  /** https, or http at a loopback address. */
  readonly issuer: string
  readonly clientId: string
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null
  readonly scopes: readonly string[]
  /** Claim that holds the e-mail address. */
  readonly emailClaim: string
  /** Whether an address counts although the provider does not say that it is verified. */
  readonly trustEmail: boolean
  readonly groupsClaim: string | null
  /** What a sign-in without the claim says: nothing (`keep`), or that the user is in no group (`none`). */
  readonly groupsAbsent: 'keep' | 'none'
  /** Groups of the claim that become memberships, as names or prefixes with `*`; null: all of them. */
  readonly memberGroups: readonly string[] | null
  /** Members of one of these may sign in; null: all users. */
  readonly allowedGroups: readonly string[] | null
  /** Members of one of these are administrators, and others are not; null: the provider has no say in it. */
  readonly adminGroups: readonly string[] | null
}

/** Path at which the provider answers, below the public address of the front end; the operator enters it there. */
export const callbackPath = (providerId: string): string => `/api/auth/oidc/${providerId}/callback`

/** Path that begins a sign-in at a provider. */
export const startPath = (providerId: string): string => `/api/auth/oidc/${providerId}/start`

/** How long a person may take at the provider, in seconds. */
export const attemptLifetime = 600

/** One sign-in that was begun in a browser, until the provider answers. */
export interface SignInAttempt {
  readonly provider: string
  /** Comes back with the answer; unguessable, so that no other party can forge one (CSRF). Source: RFC 9700, 4.7. */
  readonly state: string
  /** Comes back inside the ID token, so that none of another attempt is accepted. */
  readonly nonce: string
  /** Proves at the token endpoint who began the attempt. Source: RFC 7636. */
  readonly codeVerifier: string
  /** Path to go on to. */
  readonly next: string
}

/** Providers that one login page can show. */
const maxProviders = 20
/** Part of a path and of cookie names. */
const idForm = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/

type Read<T> = { readonly value: T } | { readonly problem: string }

const ok = <T>(value: T): Read<T> => ({ value })
const bad = (problem: string) => ({ problem })

/**
 * Reads a map of provider id to provider from JSON or YAML text; the order of its keys is that of the login page.
 * @param source     how the operator knows the text, for the messages
 * @param readSecret reads `client_secret_file`
 * @returns the providers, or every problem found, each a sentence with line, provider and field, and no secret
 */
export function readProviders(
  text: string,
  source: string,
  readSecret: (file: string) => ReadSecret = readSecretFile,
): { providers: Provider[]; problems: string[] } {
  const lines = new LineCounter()
  const document = parseDocument(text, { uniqueKeys: true, lineCounter: lines })
  // The first line of a message of the parser; those that follow show the text, in which secrets may stand.
  const syntax = document.errors.map((error) => `${source}: ${error.message.split('\n')[0]?.replace(/:$/, '')}`)
  if (syntax.length > 0) return { providers: [], problems: syntax }
  const { contents } = document
  if (!isMap(contents) || contents.items.length === 0 || contents.items.length > maxProviders)
    return { providers: [], problems: [`${source}: must be a map of provider id to provider, 1 to ${maxProviders}`] }
  const lineOf = (node: unknown) => lines.linePos((node as { range?: [number] } | null)?.range?.[0] ?? 0).line
  const read = contents.items.map(({ key, value }) => {
    const id = String(isScalar(key) ? key.value : key)
    const fields: unknown = (value as { toJS(d: unknown): unknown } | null)?.toJS(document)
    const nodes: readonly Pair[] = isMap(value) ? value.items : []
    const lineOfField = (name: string) =>
      lineOf(nodes.find((pair) => isScalar(pair.key) && pair.key.value === name)?.key ?? key)
    const { provider, problems } = readProvider(id, fields, readSecret)
    const words = problems.map(({ field, what }) => {
      const where = `${source}: line ${lineOfField(field ?? '')}: ${id.slice(0, 40)}`
      return field === undefined ? `${where}: ${what}` : `${where}: ${field} ${what}`
    })
    return { provider, words }
  })
  return {
    providers: read.flatMap(({ provider }) => provider ?? []),
    problems: read.flatMap(({ words }) => words),
  }
}

interface FieldProblem {
  /** Undefined: the provider itself. */
  readonly field?: string
  /** The end of a sentence that begins with the field. */
  readonly what: string
}

function readProvider(
  id: string,
  fields: unknown,
  readSecret: (file: string) => ReadSecret,
): { provider?: Provider; problems: FieldProblem[] } {
  if (!idForm.test(id))
    return { problems: [{ what: 'the id must have 1 to 32 characters: a-z, 0-9 and, inside, hyphens' }] }
  if (id === localSource)
    return { problems: [{ what: `the id "${id}" is the source of groups that are made in Berth` }] }
  if (!isRecord(fields)) return { problems: [{ what: 'must be a map of provider fields' }] }
  const known = Object.keys(providerFields).join(', ')
  const problems: FieldProblem[] = Object.keys(fields)
    .filter((name) => !Object.hasOwn(providerFields, name))
    .map((field) => ({ field, what: `is not a field of a provider; known: ${known}` }))
  const pick = <T, F>(field: ProviderField, reader: (value: unknown) => Read<T>, fallback: F): T | F => {
    if (fields[field] === undefined) return fallback
    const read = reader(fields[field])
    if ('value' in read) return read.value
    problems.push({ field, what: read.problem })
    return fallback
  }
  const required = (field: 'issuer' | 'client_id', reader: (value: unknown) => Read<string>): string => {
    if (fields[field] === undefined) problems.push({ what: `${field} is missing: ${providerFields[field].text}` })
    return pick(field, reader, '')
  }
  const provider: Provider = {
    id,
    displayName: pick('display_name', label, id),
    issuer: required('issuer', issuer),
    clientId: required('client_id', word),
    clientSecret:
      pick('client_secret', word, null) ?? pick('client_secret_file', (value) => secretIn(value, readSecret), null),
    scopes: pick('scopes', scopes, ['openid', 'email', 'profile']),
    emailClaim: pick('email_claim', word, 'email'),
    trustEmail: pick('trust_email', flag, false),
    groupsClaim: pick('groups_claim', word, null),
    groupsAbsent: pick('groups_absent', absence, 'keep'),
    memberGroups: pick('member_groups', groupPatterns, null),
    allowedGroups: pick('allowed_groups', names, null),
    adminGroups: pick('admin_groups', names, null),
  }
  problems.push(...contradictionsIn(provider, fields))
  return problems.length === 0 ? { provider, problems } : { problems }
}

function contradictionsIn({ groupsClaim, issuer: address, trustEmail }: Provider, fields: object): FieldProblem[] {
  const problems: FieldProblem[] = []
  if ('client_secret' in fields && 'client_secret_file' in fields)
    problems.push({ field: 'client_secret_file', what: 'and client_secret: set one of them, not both' })
  for (const field of ['allowed_groups', 'admin_groups', 'groups_absent', 'member_groups'] as const)
    if (field in fields && groupsClaim === null)
      problems.push({ field, what: 'needs groups_claim, the name of the claim that lists the groups' })
  // Administrators of any tenant choose the addresses of their users.
  if (trustEmail && /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)\b/.test(address))
    problems.push({
      field: 'trust_email',
      what: 'cannot be true for all tenants: set the issuer of your own tenant, https://login.microsoftonline.com/{tenant id}/v2.0',
    })
  return problems
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isWord = (value: unknown): value is string => typeof value === 'string' && /^[^\p{Cc}]{1,1024}$/u.test(value)
const word = (value: unknown): Read<string> => (isWord(value) ? ok(value) : bad('must be text on one line'))
const label = (value: unknown): Read<string> =>
  isWord(value) && value.trim() !== '' && [...value].length <= 60
    ? ok(value.trim())
    : bad('must be text of 1 to 60 characters')
const flag = (value: unknown): Read<boolean> =>
  typeof value === 'boolean' ? ok(value) : bad('must be true or false, without quotes')
const names = (value: unknown): Read<readonly string[]> =>
  Array.isArray(value) && value.length > 0 && value.every(isWord)
    ? ok(value)
    : bad('must be a list of text, e.g. [staff]')

const absence = (value: unknown): Read<'keep' | 'none'> =>
  value === 'keep' || value === 'none' ? ok(value) : bad('must be keep or none')

/** An empty list is one, too: no group of the claim becomes a membership. */
function groupPatterns(value: unknown): Read<readonly string[]> {
  if (!Array.isArray(value) || !value.every(isWord))
    return bad('must be a list of text, e.g. [teachers, school/*]; [] for no group')
  const wrong = value.find((name) => name.slice(0, -1).includes('*'))
  return wrong === undefined ? ok(value) : bad(`may have * at the end of a name alone, not as in "${wrong}"`)
}

function scopes(value: unknown): Read<readonly string[]> {
  const read = names(value)
  if (!('value' in read)) return read
  // RFC 6749, 3.3: a scope is a token without spaces.
  const wrong = read.value.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
  if (wrong !== undefined) return bad(`must be a list of scopes without spaces; "${wrong}" is not one`)
  return read.value.includes('openid') ? read : bad('must contain openid, e.g. [openid, email, profile]')
}

function issuer(value: unknown): Read<string> {
  if (!isWord(value) || !URL.canParse(value)) return bad('must be an address such as https://login.example.org')
  const { protocol, hostname, search, hash, username, password } = new URL(value)
  if (/\/\.well-known\//.test(value))
    return bad(`must be the issuer, not its discovery document: ${value.replace(/\/\.well-known\/.*$/, '')}`)
  if (search || hash || username || password || /[?#]/.test(value))
    return bad('must be an address without query, fragment, name or password')
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return ok(value)
  return bad('must begin with https://; http:// is accepted for a loopback address only')
}

function secretIn(value: unknown, readSecret: (file: string) => ReadSecret): Read<string> {
  if (!isWord(value)) return bad('must be the path of a file')
  const read = readSecret(value)
  return 'value' in read ? read : bad(`must name a file with the secret: ${read.problem}`)
}
