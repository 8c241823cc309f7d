#!/bin/sh
# Crypt::JWT 0.034 of Debian 12 (Perl): verify_aud of a token whose `aud` is an array.
# Guess: verify_aud => 'api' takes a token whose audiences have "api" among them: RFC 7519 §4.1.3 calls the array the general
# case, and one string the special one.
# Seen: every array is refused ("aud claim scalar check failed"), that of "api" alone, too; a regular expression refuses
# them likewise. Only a code reference, which gets the array, can take one. Needs Debian 12.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root libcrypt-jwt-perl=0.034-1 libcryptx-perl=0.077-1+b1
for deb in *.deb; do dpkg -x "$deb" root; done
export PERL5LIB="$work/root/usr/share/perl5:$work/root/usr/lib/x86_64-linux-gnu/perl5/5.36"
cat >look.pl <<'PERL'
use strict;
use warnings;
use Crypt::JWT qw(decode_jwt encode_jwt);
my $key = 'a secret of thirty-two characters';
for my $aud ('api', ['api'], ['web', 'api']) {
  my $token = encode_jwt(payload => { sub => 'ada', exp => time + 60, aud => $aud }, key => $key, alg => 'HS256');
  my %checks = (string => 'api', regex => qr/^api$/, code => sub { grep { $_ eq 'api' } ref $_[0] ? @{$_[0]} : $_[0] });
  for my $name (sort keys %checks) {
    eval { decode_jwt(token => $token, key => $key, verify_aud => $checks{$name}) };
    printf "aud %s, verify_aud a %s: %s\n", ref $aud ? '[' . join(', ', @$aud) . ']' : $aud, $name, $@ ? $@ =~ s/ at .*//sr : 'taken';
  }
}
PERL
perl -MCrypt::JWT -e 'print "Perl $^V, Crypt::JWT $Crypt::JWT::VERSION\n"'
perl look.pl | tee seen
for check in string regex code; do grep -qx "aud api, verify_aud a $check: taken" seen; done
for aud in api 'web, api'; do
  grep -q "^aud \[$aud\], verify_aud a string: JWT: aud claim scalar check failed" seen
  grep -q "^aud \[$aud\], verify_aud a regex: JWT: aud claim re check failed" seen
  grep -qx "aud \[$aud\], verify_aud a code: taken" seen
done
