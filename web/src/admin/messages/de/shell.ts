import type { AdminWords } from '#/admin/messages/words.ts'

export const shell: AdminWords['shell'] = {
  nav: 'Verwaltung',
  overview: 'Überblick',
  users: 'Personen',
  containers: 'Container',
  groups: 'Gruppen',
  templates: 'Vorlagen',
  usage: 'Nutzung',
  audit: 'Protokoll',
  tokens: 'API-Token',
  system: 'System',
  forbidden: 'Diese Seite ist nur für Administratoren.',
}
