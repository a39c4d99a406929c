import { testImage } from './engine.ts'

/** Below the address of the container: answers with the variables of a CGI program, of which those with HTTP_ are the request's headers. */
export const envPath = 'cgi-bin/env'

const command = `
mkdir -p cgi-bin
printf '#!/bin/sh\\nprintf "Content-Type: text/plain\\\\r\\\\n\\\\r\\\\n"\\nenv\\n' > ${envPath}
chmod +x ${envPath}
exec httpd -f -p 8080 -h /home/berth`

/** Template `dev` of an app that visitors may open, and that answers with what it receives of a request at `envPath`. */
export async function envTemplates(): Promise<string> {
  const dev = {
    display_name: 'Development',
    image: await testImage(),
    port: 8080,
    memory: '64m',
    access: 'public',
    command: ['/bin/sh', '-c', command],
  }
  return JSON.stringify({ dev })
}
