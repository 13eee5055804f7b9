/** Addresses that a tenant may name, and those that nobody may, when saved and when dialled. */
import { describe, expect, test } from 'bun:test';
import { faultOfAddress, faultOfCustomHost, isTrustedHost } from './custom-host.ts';

const fault = (url: string, ...trusted: string[]) => faultOfCustomHost(url, { named: trusted, own: [] });

describe('a custom host', () => {
  test.each([
    'https://api.example.com',
    'http://api.example.com:8080/v1?x=1',
    'HTTPS://API.Example.com/v1/',
    'https://8.8.8.8/v1',
    'https://[2606:4700::1111]:8443/',
    'https://[64:ff9b::808:808]/',
    'https://my_host.example.com',
    'http://ollama:11434',
  ])('%s may be called', (url) => {
    expect(fault(url)).toBeNull();
  });

  test.each([
    ['', 'empty'],
    [`https://example.com/${'x'.repeat(2048)}`, '2048'],
    ['ftp://example.com', 'http'],
    ['javascript:alert(1)', 'http'],
    ['example.com', 'http'],
    ['https://example.com/#part', 'fragment'],
    ['https://user:secret@example.com', 'credentials'],
    ['https://example.com/@other', 'credentials'],
    ['https://example.com\\@other', 'backslashes'],
    [' https://example.com', 'spaces'],
    ['https://exam\nple.com', 'control characters'],
    ['https://', 'URL'],
    ['https:///example.com', 'URL'],
    ['https:example.com', 'URL'],
    ['https://exa%6dple.com', 'URL'],
    ['https://bücher.example', 'URL'],
    ['https://xn--bcher-kva.example', 'internationalised'],
    ['https://example.com.', 'trailing dot'],
    ['https://a..example.com', 'empty labels'],
    ['https://a.b.c.d.e.f.g.h.i.example.com', '10 labels'],
    ['https://example.com:0', 'port'],
    ['https://example.com:65536', 'URL'],
    ['https://example.com:6379', 'port 6379'],
    ['https://example.com:22', 'port 22'],
  ])('%p is refused, naming what is wrong', (url, reason) => {
    expect(fault(url)).toContain(reason);
  });

  test.each([
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '127.0.0.1',
    '169.254.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[fc00::1]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[2001::1]',
    '[2001:db8::1]',
    '[100:0:0:1::1]',
    '[4000::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::10.0.0.1]',
    '[::ffff:0:10.0.0.1]',
    '[2002:7f00:1::]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b:1::808:808]',
    'localhost',
    'api.localhost',
    'printer.local',
    'db.internal',
    'wiki.intranet',
    'nas.lan',
    'server.corp',
    'hidden.onion',
  ])('%s lies inside and is refused', (host) => {
    expect(fault(`http://${host}/`)).toMatch(/private|internal/);
  });

  test.each(['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0x7f.1', '8.8.2056', '010.8.8.8'])(
    '%s is an address in disguise and is refused',
    (host) => {
      expect(fault(`http://${host}/`)).toMatch(/four decimal numbers/);
    },
  );

  test.each([
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '0xa9fea9fe',
    '[fd00:ec2::254]',
    '[::ffff:169.254.169.254]',
    '[2002:a9fe:a9fe::]',
    'metadata',
    'instance-data',
    'metadata.google.internal',
    'x.metadata.goog',
    'metadata.azure.com',
    'ip-10-0-0-1.ec2.internal',
    'kubernetes',
    'kubernetes.default.svc',
    'api.svc.cluster.local',
    'vault.service.consul',
  ])('%s is a metadata or cluster service and is refused even when it is on the trusted list', (host) => {
    const bare = host.replace(/[[\]]/g, '');
    expect(fault(`http://${host}/`, host, bare, `*.${bare}`)).toMatch(/metadata/);
  });

  test.each(['127.0.0.1.nip.io', 'app.localtest.me', 'lvh.me'])('%s may be bound anew and is refused', (host) => {
    expect(fault(`http://${host}/`, host)).toMatch(/rebinding/);
  });
});

describe('the trusted list', () => {
  test.each([
    ['http://localhost:8000', 'localhost'],
    ['http://api.localhost', 'localhost'],
    ['http://127.0.0.1:11434/v1', '127.0.0.1'],
    ['http://[::1]:11434/v1', '::1'],
    ['http://[0:0:0:0:0:0:0:1]', '[::1]:8080'],
    ['http://10.1.2.3', 'http://10.1.2.3:9000/path'],
    ['http://models.corp', '*.models.corp'],
    ['http://a.models.corp', '*.models.corp'],
    ['http://Models.Corp', 'models.corp'],
  ])('%s is let through by %s', (url, entry) => {
    expect(fault(url, entry)).toBeNull();
  });

  test.each([
    ['http://a.models.corp', 'models.corp', 'internal'],
    ['http://notmodels.corp', '*.models.corp', 'internal'],
    ['http://127.1', '127.0.0.1', 'four decimal'],
    ['http://localhost:6379', 'localhost', 'port'],
    ['ftp://localhost', 'localhost', 'http'],
    ['http://localhost.', 'localhost', 'trailing dot'],
  ])('%s is not let through by %s', (url, entry, reason) => {
    expect(fault(url, entry)).toContain(reason);
  });
});

describe('at the moment of dialling', () => {
  test.each(['8.8.8.8', '2606:4700::1111', '64:ff9b::808:808'])('%s may be dialled', (address) => {
    expect(faultOfAddress(address)).toBeNull();
  });

  test.each([
    ['10.0.0.1', 'private'],
    ['::1', 'private'],
    ['::ffff:192.168.0.1', 'private'],
    ['fe80::1%eth0', 'private'],
    ['169.254.169.254', 'metadata'],
    ['64:ff9b::a9fe:a9fe', 'metadata'],
    ['example.com', 'IP address'],
  ])('%s may not', (address, reason) => {
    expect(faultOfAddress(address)).toContain(reason);
  });

  test('a trusted host is known with and without brackets, in any case', () => {
    expect(isTrustedHost('::1', ['[::1]'])).toBe(true);
    expect(isTrustedHost('[::1]', ['::1'])).toBe(true);
    expect(isTrustedHost('API.models.corp', ['*.models.corp'])).toBe(true);
    expect(isTrustedHost('models.corp.example.com', ['*.models.corp', 'models.corp'])).toBe(false);
  });
});

describe('the service itself is no custom host, whatever the operator trusts', () => {
  const rules = {
    named: ['localhost', '127.0.0.1', '[::1]', '10.0.0.5', '0.0.0.0'],
    own: ['gw.example', 'localhost:8787'],
  };

  test.each([
    'https://gw.example/v1',
    'https://GW.example:443/v1',
    'http://localhost:8787/v1',
    'http://a.localhost:8787/v1',
    'http://deep.below.localhost:8787/v1',
    'http://127.0.0.1:8787/v1',
    'http://[::1]:8787/v1',
    'http://0.0.0.0:8787/v1',
  ])('%s', (url) => {
    expect(faultOfCustomHost(url, rules)).toContain('this gateway itself');
  });

  test.each(['http://localhost:11434/v1', 'http://127.0.0.1:8788/v1', 'http://10.0.0.5:8787/v1'])(
    '%s is another',
    (url) => {
      expect(faultOfCustomHost(url, rules)).toBeNull();
    },
  );
});
