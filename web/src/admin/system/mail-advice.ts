import type { SystemReport } from '@berth/api/schemas/admin.ts'

/** `late` links are used late, `unused` many never, `slow` the mail server takes long. */
export type MailAdvice = 'late' | 'unused' | 'slow'

/** Seconds: two thirds of the time for which a link is good unless it is set otherwise. */
const late = 600
/** Seconds that a person looks at "sending…" before they wonder. */
const slow = 10
/** Fewer mails say little about how many are used. */
const enough = 20

/** What the numbers say of the way to people's mailboxes. Source: docs/how-to/diagnose-late-mail.md. */
export function mailAdvice({ accepted, used, seconds_to_use, seconds_to_accept }: SystemReport['mail']): MailAdvice[] {
  return [
    ...(seconds_to_use && seconds_to_use.p90 > late ? (['late'] as const) : []),
    ...(accepted >= enough && used < accepted / 2 ? (['unused'] as const) : []),
    ...(seconds_to_accept && seconds_to_accept.p90 > slow ? (['slow'] as const) : []),
  ]
}
