/** What a finding is about. */
export type FindingKind =
  | 'start'
  | 'slow'
  | 'page'
  | 'address'
  | 'redirect'
  | 'socket'
  | 'cookie'
  | 'worker'
  | 'mixed content'
  | 'frame'
  | 'isolation'
  | 'error'
  | 'other host'

/** One thing that was seen of an application behind the prefix. */
export interface Finding {
  /** `breaks`: a user would see it. `hint`: worth knowing. */
  readonly level: 'breaks' | 'hint'
  readonly kind: FindingKind
  /** One sentence. Addresses in it are without queries, which hold tokens. */
  readonly what: string
}

export const breaks = (kind: FindingKind, what: string): Finding => ({ level: 'breaks', kind, what })
export const hint = (kind: FindingKind, what: string): Finding => ({ level: 'hint', kind, what })

/** Whether a user would see nothing wrong. */
export const works = (findings: readonly Finding[]): boolean => findings.every(({ level }) => level === 'hint')
