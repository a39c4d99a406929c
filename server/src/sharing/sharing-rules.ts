/** What the settings allow of sharing. */
export interface SharingRules {
  /** With people, by their e-mail addresses. */
  readonly withPeople: boolean
  /** With groups that the owner is a member of. */
  readonly withGroups: boolean
  /** Whether containers may be shared at all. */
  readonly isOn: boolean
  /** How long a share may last, in seconds. */
  readonly maxDuration: number
}
