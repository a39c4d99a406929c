import assert from 'node:assert/strict'

/** What no log may have, by name. */
const secrets: Readonly<Record<string, RegExp>> = {
  'an access token': /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/,
  'an API token': /berth_[\w-]{20,}/,
  'the token of a link': /[?&](?:amp;)?token=[\w-]{6,}|token(?:%3D|\\u003d)[\w-]{6,}/i,
  'a cookie': /spawner_(?:token|bind)=[\w-]|__Host-[\w-]+=[\w-]/,
  'a header with a secret': /"(?:authorization|proxy-authorization|cookie|set-cookie|x-csrf-token)":/i,
  // What 32 random bytes look like: tokens of links, CSRF tokens. Names of containers and hashes are longer, and in hex.
  'something as long and as random as a token':
    /(?<![\w/+-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{43}(?![\w/+=-])/,
}

/** Without a mail server the log is where links are found; this line has one, and no other may. See `mail/outbox-mailer.ts`. */
const isOutboxLine = (line: string) => /"link":"[^"]*\/verify-[^"]*"/.test(line) && /"msg":"mail for [^"]*"/.test(line)

/**
 * Everything that was logged has no secret in it, neither those that are known nor what looks like one.
 * @throws {AssertionError} with the line
 */
export function refuseSecrets(log: string, known: readonly string[] = []): void {
  for (const line of log.split('\n')) {
    if (isOutboxLine(line)) continue
    for (const [name, pattern] of Object.entries(secrets)) assert.ok(!pattern.test(line), `${name} was logged: ${line}`)
    for (const secret of known) assert.ok(!line.includes(secret), `a token was logged: ${line}`)
  }
}

/** The tokens of the links in these texts. */
export function tokensIn(texts: readonly (string | undefined)[]): string[] {
  return texts.flatMap((text) => [...(text ?? '').matchAll(/[?&]token=([\w-]+)/g)].map(([, token]) => token ?? ''))
}
