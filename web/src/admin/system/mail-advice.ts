import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'

/** `late`: links are used late; `unused`: many never; `slow`: the mail server takes long. */
type MailAdvice = 'late' | 'unused' | 'slow'

/** In seconds: two thirds of the default lifetime of a link. */
const late = 600
/** In seconds: after this time users doubt "Sending…". */
const slow = 10
/** Fewer mails say little about how many links are used. */
const enough = 20

/** What the figures say of the delivery of mail. Source: docs/how-to/diagnose-late-mail.md. */
export function mailAdvice({ accepted, used, seconds_to_use, seconds_to_accept }: SystemReport['mail']): MailAdvice[] {
  return [
    ...(seconds_to_use && seconds_to_use.p90 > late ? (['late'] as const) : []),
    ...(accepted >= enough && used < accepted / 2 ? (['unused'] as const) : []),
    ...(seconds_to_accept && seconds_to_accept.p90 > slow ? (['slow'] as const) : []),
  ]
}
