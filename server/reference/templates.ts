import { fieldGroups, type FieldDescription } from '#/containers/templates/template-descriptions.ts'
import { code, page, table, withLink } from './markdown.ts'

const introduction = `A template describes one container type. \`CONTAINER_TEMPLATES\` or the file \`CONTAINER_TEMPLATES_FILE\` holds a map of type to template as JSON or YAML. The first type is the default type: sign-up starts it, and \`POST /api/container/restart\` replaces it. A type is any text of 1 to 100 characters; an unknown field is an error at start.

\`\`\`yaml
dev:
  display_name: Development
  image: registry.example.org/workspace:2026
  port: 8080
  memory: 1g
\`\`\``

const traffic =
  '**Traffic** is bytes in either direction: requests, answers and WebSocket messages. An open connection without bytes, and WebSocket pings, are not traffic. Idle times count from the last byte, the last start of the container, or the start of Berth, whichever is latest. A minute before a container is stopped (a quarter of the idle time if that is shorter) the open pages of its owner show a warning.'

/** docs/reference/templates.md */
export function templatesPage(): string {
  const sections = Object.entries(fieldGroups).map(([title, fields]) => {
    const rows = Object.entries<FieldDescription>(fields).map(
      ([name, { default: value, isDefaultInWords, text, see }]) => [
        code(name),
        isDefaultInWords ? value : code(value),
        withLink(text, see),
      ],
    )
    const more = title === 'Idle containers' ? `\n\n${traffic}` : ''
    return `## ${title}\n\n${table(['field', 'default', 'meaning'], rows)}${more}`
  })
  return page('Template fields', 'server/src/containers/templates/template-descriptions.ts', introduction, ...sections)
}
