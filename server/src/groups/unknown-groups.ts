import type { Templates } from '#/templates/template.ts'
import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { GroupDirectory } from '#/templates/group-directory.ts'

/** Warning for the operator about groups that templates name and that do not exist; they may be made later. */
export function unknownGroupWarnings(
  templates: Pick<Templates, 'all'>,
  directory: Pick<GroupDirectory, 'hasName'>,
): LocalizedMessage[] {
  const named = new Set(templates.all().flatMap(({ groups }) => groups))
  const unknown = [...named].filter((name) => !directory.hasName(name))
  return unknown.length === 0 ? [] : [message('groups.unknownInTemplates', { names: list('comma', unknown) })]
}
