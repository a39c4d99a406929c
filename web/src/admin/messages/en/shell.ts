/** Text of the frame around the administration pages. */
export const shell = {
  nav: 'Administration',
  overview: 'Overview',
  users: 'Users',
  containers: 'Containers',
  groups: 'Groups',
  templates: 'Templates',
  usage: 'Use',
  audit: 'Audit log',
  tokens: 'API tokens',
  system: 'System',
  forbidden: 'Only administrators can see this page.',
} as const
