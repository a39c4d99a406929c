import type { EnvironmentSource } from '@berth/api/schemas/environments.ts'

export const kinds = ['packages', 'dockerfile', 'git'] as const
export type Kind = (typeof kinds)[number]

export const kindOf = (source: EnvironmentSource | undefined): Kind =>
  source === undefined ? 'packages' : 'git' in source ? 'git' : 'dockerfile' in source ? 'dockerfile' : 'packages'

/** Fields of the form, as text. */
export type SourceFields = Readonly<
  Record<'base' | 'apt' | 'pip' | 'npm' | 'run' | 'dockerfile' | 'git' | 'ref' | 'path', string>
>

export function fieldsOf(source: EnvironmentSource | undefined): SourceFields {
  const empty = { base: '', apt: '', pip: '', npm: '', run: '', dockerfile: '', git: '', ref: '', path: '' }
  if (source === undefined) return empty
  if ('git' in source)
    return { ...empty, git: source.git, ref: source.ref ?? '', path: source.path ?? '', base: source.base ?? '' }
  if ('dockerfile' in source) return { ...empty, dockerfile: source.dockerfile }
  const { base, apt = [], pip = [], npm = [], run = [] } = source
  return { ...empty, base, apt: apt.join('\n'), pip: pip.join('\n'), npm: npm.join('\n'), run: run.join('\n') }
}

/** The source that the fields of a kind say. Fields of other kinds count for nothing. */
export function sourceOf(kind: Kind, fields: SourceFields): EnvironmentSource {
  const base = fields.base.trim()
  if (kind === 'dockerfile') return { dockerfile: fields.dockerfile }
  if (kind === 'git') {
    const [ref, path] = [fields.ref.trim(), fields.path.trim()]
    return { git: fields.git.trim(), ...(ref && { ref }), ...(path && { path }), ...(base && { base }) }
  }
  return {
    base,
    apt: linesOf(fields.apt),
    pip: linesOf(fields.pip),
    npm: linesOf(fields.npm),
    run: linesOf(fields.run),
  }
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
