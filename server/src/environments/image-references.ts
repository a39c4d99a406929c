/**
 * What may stand as the name of an image, with tag or digest. Each part of it begins with a letter or a digit, as the engine
 * has it: `quay.io/course/../x` would be allowed by its beginning, and be another path of the engine's API.
 */
const validReference = /^(?=.{1,255}$)[A-Za-z0-9][\w.:@-]*(\/[A-Za-z0-9][\w.:@-]*)*$/

export const isImageReference = (text: string): boolean => validReference.test(text)

/**
 * The whole name of an image, as the engine completes it: `python` is `docker.io/library/python:latest`. A name that an
 * engine could take for the beginning of an id is completed, too.
 */
export function wholeName(reference: string): string {
  const [name = '', digest] = reference.split('@')
  const [first = '', ...others] = name.split('/')
  const hasHost = others.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const path = hasHost ? name : others.length > 0 ? `docker.io/${name}` : `docker.io/library/${name}`
  const host = path
    .replace(/^(index\.)?docker\.io\/(?!.*\/)/, 'docker.io/library/')
    .replace(/^index\.docker\.io\//, 'docker.io/')
  if (digest !== undefined) return `${host.replace(/:[^/]*$/, '')}@${digest}`
  return /:[^/]*$/.test(host) ? host : `${host}:latest`
}

/**
 * The name by which the engine is asked: never one that it could take for an id, as it does with `sha256:` and any beginning of
 * one. Otherwise the short one, by which Podman also finds what was built on its machine.
 * @param whole of `wholeName`
 */
export const askedName = (whole: string): string =>
  whole.startsWith('docker.io/library/sha256:') ? whole : whole.replace(/^docker\.io\/(library\/)?/, '')

/**
 * Whether a list of names has an image. An entry is a name, or the beginning of names with `*` at its end.
 * @param reference as it is written in a Dockerfile
 */
export function isNamedBy(patterns: readonly string[], reference: string): boolean {
  const whole = wholeName(reference)
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? whole.startsWith(wholeBeginning(pattern.slice(0, -1))) : whole === wholeName(pattern),
  )
}

/** `python:3` is the beginning of `docker.io/library/python:3.13`; nothing at all that of every name. */
function wholeBeginning(beginning: string): string {
  if (beginning === '') return ''
  const [first = '', ...others] = beginning.split('/')
  if (others.length === 0) return `docker.io/library/${beginning}`
  return /[.:]/.test(first) || first === 'localhost' ? beginning : `docker.io/${beginning}`
}
