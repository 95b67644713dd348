// The engine's account of itself as a text.
#include <algorithm>
#include <sstream>

#include "bindings/torch/surface.h"

namespace aee {
namespace {

constexpr std::size_t kMostSites = 50;

void write_site(std::ostream& out, const SiteReport& site) {
  out << "  " << site.launches << " launches, " << site.hits << " known, of " << site.ops << " ops: " << site.first
      << " to " << site.last << "; ended for " << site.cut << '\n'
      << "    " << site.bytes << " bytes, " << site.live_outs << " live-outs, tier " << site.tier << ", host "
      << site.recording_us << " us an op, device " << site.device_us << " us a launch\n";
  if (!site.difference.empty()) out << "    last new one: " << site.difference << '\n';
}

}  // namespace

std::string explain() {
  std::ostringstream out;
  out << "adaptive mode of this thread: " << (is_adaptive() ? "on" : "off") << "\ncounters\n";
  for (const auto& [name, count] : metric_rows()) {
    if (count != 0) out << "  " << name << ' ' << count << '\n';
  }
  const std::vector<SiteReport> sites = site_reports();
  if (sites.empty()) return out.str();
  out << "places where segments ended\n";
  for (std::size_t i = 0; i < std::min(sites.size(), kMostSites); ++i) write_site(out, sites[i]);
  if (sites.size() > kMostSites) out << "  and " << sites.size() - kMostSites << " more\n";
  return out.str();
}

}  // namespace aee
