import { catalogueEntries } from '@berth/server/templates/catalogue.ts'
import type { ImageProgram } from '@berth/server/engines/trial-engine.ts'
import type { Fields } from './try-installation.ts'

/** A template that may work where another did not. */
export interface Candidate {
  /** What is different, for the report. */
  readonly change: string
  readonly fields: Fields
  readonly routing: 'path' | 'subdomain'
}

/** Variables from which frameworks and images take their base path. */
const baseVariables = [
  'ROOT_PATH',
  'BASE_URL',
  'BASEURL',
  'URL_PREFIX',
  'SCRIPT_NAME',
  'CONTEXT_PATH',
  'PUBLIC_URL',
  'UVICORN_ROOT_PATH',
  'GRADIO_ROOT_PATH',
  'STREAMLIT_SERVER_BASE_URL_PATH',
  'SERVER_SERVLET_CONTEXT_PATH',
]

/** Variables from which programs take the address that they listen on. */
const hostVariables = {
  HOST: '0.0.0.0',
  HOSTNAME: '0.0.0.0',
  GRADIO_SERVER_NAME: '0.0.0.0',
  STREAMLIT_SERVER_ADDRESS: '0.0.0.0',
}

/** Where applications have their first page, if not at the root. */
export const usualOpenPaths = [
  'vnc.html?autoconnect=1',
  'lab',
  'tree',
  'ui/',
  'app/',
  'web/',
  'admin/',
  'index.html',
  'index.php',
]

/** With the variables that have programs listen on all addresses. */
export function listeningEverywhere(fields: Fields): Candidate {
  const env = { ...hostVariables, ...(fields.env as Record<string, string> | undefined) }
  return {
    change: 'variables for an address that can be reached, such as HOST=0.0.0.0',
    fields: { ...fields, env },
    routing: 'path',
  }
}

/** What may mend addresses outside of the prefix, the simplest first; hosts of their own mend all that is left. */
export function* candidatesForPrefix(fields: Fields, program: ImageProgram): Generator<Candidate> {
  const path = { routing: 'path' } as const
  const flipped = fields.strip_prefix === false
  yield { change: `strip_prefix: ${flipped}`, fields: { ...fields, strip_prefix: flipped }, ...path }
  for (const stripPrefix of [true, false]) {
    const command = withVariables(fields, program, baseVariables)
    if (command) {
      const change = `strip_prefix: ${stripPrefix}, and the prefix in variables such as BASE_URL`
      yield { change, fields: { ...fields, strip_prefix: stripPrefix, command }, ...path }
    }
  }
  yield { change: 'a host of its own (CONTAINER_ROUTING=subdomain)', fields, routing: 'subdomain' }
}

/** The same with one of its variables alone, for each of them; nothing for other fields. */
export function* withFewerVariables(
  { fields, routing }: Candidate,
  given: Fields,
  program: ImageProgram,
): Generator<Candidate> {
  if (JSON.stringify(fields.command) !== JSON.stringify(withVariables(given, program, baseVariables))) return
  for (const name of baseVariables) {
    const command = withVariables(given, program, [name])
    if (command) yield { change: `of the variables ${name} alone`, fields: { ...fields, command }, routing }
  }
}

/** The program of the template or image, started by a shell that sets variables to the prefix; undefined without a known program. */
function withVariables({ command }: Fields, program: ImageProgram, names: readonly string[]): string[] | undefined {
  const own = Array.isArray(command) ? (command as string[]) : program.command
  if (own.length === 0) return undefined
  const assignments = names.map((name) => `${name}="$BASE_PATH"`).join(' ')
  return ['sh', '-c', `export ${assignments}; exec "$@"`, 'sh', ...own]
}

/** The template of the catalogue whose application the image or its program names, with this image; undefined if there is none. */
export function catalogueCandidate(fields: Fields, program: ImageProgram): Candidate | undefined {
  const image = String(fields.image)
  const words = [image.replace(/:[^/]*$/, ''), ...program.entrypoint, ...program.command].join(' ').toLowerCase()
  const isNamed = (name: string) => new RegExp(`\\b${name.replace('-', '.?')}\\b`).test(words)
  const entry = catalogueEntries().find(({ name }) => isNamed(name))
  return entry && { change: `as ${entry.name} of the catalogue`, fields: { ...entry.fields, image }, routing: 'path' }
}
