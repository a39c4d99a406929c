import type { Template } from '#/templates/template.ts'
import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'

/** Whether an owner may share containers of this type. */
export const isShareable = ({ access, forwardToken }: Template): boolean =>
  access === 'owner' && forwardToken !== 'full'

/** @throws {Refusal} 409 for a type that others may open anyway, or whose app has its owner's own token */
export function refuseUnshareable({ access, forwardToken }: Template): void {
  if (access !== 'owner') throw refusals.conflict(message('sharing.openAnyway'))
  if (forwardToken === 'full') throw refusals.conflict(message('sharing.fullToken'))
}
