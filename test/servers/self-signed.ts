/** A certificate for `model.example`, made on the spot. */
export function selfSigned(): { key: string; cert: string } {
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=model.example';
  const made = Bun.spawnSync(['openssl', ...request.split(' '), '-keyout', '-', '-out', '-'], { stderr: 'ignore' });
  const text = made.stdout.toString();
  const begin = text.indexOf('-----BEGIN CERTIFICATE');
  return { key: text.slice(0, begin), cert: text.slice(begin) };
}
